#include "sentence_batch.hpp"

#include <algorithm>
#include <utility>

#include "objective.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::estimator {
namespace {

std::int64_t first_length(const Stage& stage, const Facts& facts) {
  const std::int64_t length = stage.plan().batch.anchor_length.value;
  return length > 0 ? std::min(length, facts.length) : facts.length;
}

Stream column_of(Stage& stage, std::int64_t rows, std::int64_t length) {
  Torch& t = stage.torch();
  Stream s;
  s.input_ids = t.empty({rows, length}, DType::int64, "batch");
  if (stage.model(Role::policy).head->sends_types) s.sent.push_back(t.empty({rows, length}, DType::int64, "batch"));
  s.attention_mask = t.empty({rows, length}, DType::int64, "batch");
  return s;
}

}  // namespace

SentenceBatch sentence_batch(Stage& stage, const Facts& facts) {
  Torch& t = stage.torch();
  Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
  SentenceBatch out;
  const Loss loss = facts.objective->loss;
  const bool counted = loss == Loss::contrastive || loss == Loss::online_contrastive;
  const bool labelled = counted || loss == Loss::cosine_similarity || loss == Loss::cosent;
  if (labelled) out.stream.labels = t.empty({facts.batch}, counted ? DType::int64 : DType::fp32, "batch");
  for (std::int64_t i = 0; i < stage.plan().recipe.columns.value; ++i) {
    out.lengths.push_back(i == 0 ? first_length(stage, facts) : facts.length);
    out.columns.push_back(column_of(stage, facts.batch, out.lengths.back()));
  }
  return out;
}

const Facts& pass_of(SentenceBatch& batch, const Facts& facts, std::int64_t rows, std::int64_t length) {
  Facts own = facts;
  own.length = own.target_length = length;
  own.batch = rows;
  own.sends_masks = true;
  return *batch.passes.emplace_back(std::make_unique<const Facts>(std::move(own)));
}

Tensor embedding_of(Stage& stage, const Facts& pass, Stream& features) {
  const RecipeFacts& recipe = stage.plan().recipe;
  stage.call(Role::policy, pass, features, [&](Play& play, const Head& head) {
    head.embed(play, recipe.pooling.value, recipe.normalized.value, features);
    features.returned.push_back(features.hidden);
  });
  if (!stage.plan().precision.outputs_to_fp32.value) return features.logits;
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  const Tensor tokens = stage.torch().to(features.returned.front(), DType::fp32);
  return stage.torch().to(features.logits, DType::fp32);
}

}  // namespace oomplan::estimator
