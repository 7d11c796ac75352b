// sentence-transformers 6.2's SentenceTransformerTrainer (base/trainer.py): a row has a text in each column. The first
// column is a forward pass of its own, the others are one, put together where they are several
// (base/losses/merged_forward.py); the loss is made of their embeddings, outside autocast. A cached loss embeds some
// texts at a time, once for the loss and once more for the gradients (base/losses/gradcache.py).
#include <algorithm>
#include <vector>

#include "objective.hpp"
#include "one_loss.hpp"
#include "sentence_batch.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::recipes {
namespace {

using Batch = SentenceBatch;

/// merge_feature_batches
Stream merged(Torch& t, const std::vector<Stream>& columns, std::size_t first) {
  Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
  const auto all = [&](auto of) {
    std::vector<Tensor> parts;
    for (std::size_t i = first; i < columns.size(); ++i) parts.push_back(of(columns[i]));
    return cat_all(t, parts, 0);
  };
  Stream s;
  s.input_ids = all([](const Stream& c) { return c.input_ids; });
  for (std::size_t i = 0; i < columns[first].sent.size(); ++i)
    s.sent.push_back(all([i](const Stream& c) { return c.sent[i]; }));
  s.attention_mask = all([](const Stream& c) { return c.attention_mask; });
  return s;
}

/// embed_columns
std::vector<Tensor> embeddings_of(Stage& stage, const Facts& facts, Batch& batch) {
  Torch& t = stage.torch();
  const Facts& first = pass_of(batch, facts, facts.batch, batch.lengths.front());
  std::vector<Tensor> out{embedding_of(stage, first, batch.columns.front())};
  const std::int64_t others = std::ssize(batch.columns) - 1;
  const Facts& second = pass_of(batch, facts, saturating_mul(facts.batch, others), batch.lengths.back());
  if (others == 1) {
    out.push_back(embedding_of(stage, second, batch.columns.back()));
    return out;
  }
  Stream features = merged(t, batch.columns, 1);
  batch.types = features.sent;
  const Tensor all = embedding_of(stage, second, features);
  const Tensor by_column = t.view(all, {others, all->sizes[0] / others, all->sizes[1]});
  for (Tensor& one : t.unbind(by_column, 0)) out.push_back(std::move(one));
  return out;
}

/// What the model put into the columns.
void drop_features(Batch& batch) {
  for (Stream& column : batch.columns) column.drop_output();
}

/// BaseTrainer.compute_loss: the columns' features end with it.
void lose(Stage& stage, const Facts& facts, Batch& batch) {
  const std::vector<Tensor> embeddings = embeddings_of(stage, facts, batch);
  stage.torch().recorder.begin_loss();
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  batch.stream.loss = facts.objective->of_embeddings(stage.torch(), embeddings, batch.stream.labels);
  drop_features(batch);
}

// ---- With a cache of gradients -------------------------------------------------------------------------------------

bool is_cached(const Facts& facts) { return facts.objective->loss == Loss::cached_multiple_negatives; }

/// Of a column's mini-batches those that differ: the first, which meets no gradients, the second, and the last, which
/// may be smaller. `skipped`: rows of those between.
struct Parts {
  std::vector<std::int64_t> rows{};
  std::int64_t skipped = 0;
};

Parts parts_of(const Stage& stage, std::int64_t rows) {
  const std::int64_t each = stage.plan().recipe.cached_rows.value;
  Parts out;
  std::int64_t left = rows;
  for (; left > each && out.rows.size() < 2; left -= each) out.rows.push_back(each);
  const std::int64_t last = (left - 1) % each + 1;
  out.skipped = left - last;
  out.rows.push_back(last);
  return out;
}

/// embed_minibatch
Tensor embed_part(Stage& stage, const Facts& facts, Batch& batch, std::size_t column, std::int64_t rows) {
  const Stream& whole = batch.columns[column];
  Stream part;
  part.input_ids = stage.torch().slice(whole.input_ids, 0, 0, rows);
  part.attention_mask = stage.torch().slice(whole.attention_mask, 0, 0, rows);
  const Facts& pass = pass_of(batch, facts, rows, batch.lengths[column]);
  return embedding_of(stage, pass, part);
}

/// Step (1): a leaf for each mini-batch, and one for those that are not played.
std::vector<Tensor> cached_column(Stage& stage, const Facts& facts, Batch& batch, std::size_t column) {
  Torch& t = stage.torch();
  std::vector<Tensor> out;
  const Parts parts = parts_of(stage, facts.batch);
  {
    Restore no_grad(t.grad_enabled, false);
    for (const std::int64_t rows : parts.rows) out.push_back(embed_part(stage, facts, batch, column, rows));
  }
  InBucket bucket(t, Bucket::logits_and_loss);
  const Dims sizes{parts.skipped, out.front()->sizes[1]};
  if (parts.skipped > 0) out.push_back(t.empty(sizes, out.front()->dtype, "aten::cat"));
  for (Tensor& one : out) {
    one = t.detach(one);
    one->requires_grad = t.grad_enabled;
  }
  return out;
}

/// Step (2), calculate_loss: chunks of as many anchors as a mini-batch has, each of which goes backward to the leaves.
void lose_chunks(Stage& stage, const Facts& facts, const std::vector<std::vector<Tensor>>& leaves) {
  Torch& t = stage.torch();
  std::vector<Tensor> columns;
  for (const std::vector<Tensor>& parts : leaves) columns.push_back(cat_all(t, parts, 0));
  const std::vector<Tensor> docs(columns.begin() + 1, columns.end());
  std::vector<Tensor> embeddings{columns.front(), cat_all(t, docs, 0)};
  for (const std::int64_t rows : parts_of(stage, facts.batch).rows) {
    const Tensor local = t.empty({rows}, DType::int64, "aten::arange");
    const std::vector<Tensor> chunk{t.index_rows(embeddings[0], local), embeddings[1]};
    const Tensor loss = facts.objective->of_embeddings(t, chunk, {});
    if (t.grad_enabled) t.backward(loss);
  }
}

/// Step (3), _backward_hook.
void replay(Stage& stage, const Facts& facts, Batch& batch, const std::vector<std::vector<Tensor>>& gradients) {
  Torch& t = stage.torch();
  for (std::size_t column = 0; column < gradients.size(); ++column) {
    const Parts parts = parts_of(stage, facts.batch);
    for (std::size_t i = 0; i < parts.rows.size(); ++i) {
      const Tensor embedding = embed_part(stage, facts, batch, column, parts.rows[i]);
      InBucket bucket(t, Bucket::logits_and_loss);
      t.backward(t.sum_all(t.mul(t.to(embedding, DType::fp32), t.to(gradients[column][i], DType::fp32))));
    }
  }
}

/// Returns the gradients of each column's mini-batches.
std::vector<std::vector<Tensor>> cached_loss(Stage& stage, const Facts& facts, Batch& batch) {
  std::vector<std::vector<Tensor>> leaves;
  for (std::size_t column = 0; column < batch.columns.size(); ++column)
    leaves.push_back(cached_column(stage, facts, batch, column));
  stage.torch().recorder.begin_loss();
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  lose_chunks(stage, facts, leaves);
  for (std::vector<Tensor>& column : leaves) {
    for (Tensor& leaf : column) leaf = Tensor(leaf->grad);
  }
  return leaves;
}

void cached_micro_batch(Stage& stage) {
  const Facts& facts = stage.facts();
  stage.begin(Phase::between);
  Batch batch = sentence_batch(stage, facts);
  stage.begin(Phase::forward);
  const std::vector<std::vector<Tensor>> gradients = cached_loss(stage, facts, batch);
  stage.begin(Phase::backward);
  replay(stage, facts, batch, gradients);
  stage.begin(Phase::between);
}

// ---- The recipe ----------------------------------------------------------------------------------------------------

void micro_batch(Stage& stage) {
  if (is_cached(stage.facts())) return cached_micro_batch(stage);
  train_on(stage, stage.facts(), sentence_batch, lose);
}

void fetch_others(Stage& stage) {
  stage.fetch_others([&] {
    const Batch one = sentence_batch(stage, stage.facts());
    std::vector<Tensor> kinds{one.stream.labels};
    for (const Stream& column : one.columns) {
      kinds.insert(kinds.end(), {column.input_ids, column.attention_mask});
      kinds.insert(kinds.end(), column.sent.begin(), column.sent.end());
    }
    return kinds;
  });
}

void evaluate(Stage& stage) {
  const auto lose_any = [](Stage& s, const Facts& facts, Batch& batch) {
    is_cached(facts) ? void(cached_loss(s, facts, batch)) : lose(s, facts, batch);
  };
  evaluate_on(stage, stage.evaluation_facts(), sentence_batch, lose_any);
}

}  // namespace

extern const Recipe sentence_embedding;
const Recipe sentence_embedding{"sentence_embedding", policy_alone, micro_batch, nullptr, evaluate, fetch_others};

}  // namespace oomplan::estimator::recipes
