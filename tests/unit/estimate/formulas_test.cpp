// The closed forms that measured training steps obey (docs/formulas.md), for models whose every tensor is a multiple of
// 512 bytes: bytes that a layer keeps for backward, and what the head and the loss need.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "plans.hpp"

namespace oomplan {
namespace {

using example::Keys;

constexpr std::int64_t batch = 2;
constexpr std::int64_t length = 256;
constexpr std::int64_t tokens = batch * length;
constexpr std::int64_t h = 256, heads = 4, kv_heads = 2, width = 64, inner = 512;
constexpr std::int64_t q = heads * width, kv = kv_heads * width;
constexpr std::int64_t words = 32'000;  // Enough that the loss is where backward peaks, all layers' tensors alive.

/// Activations and scores at the first step's backward peak.
std::int64_t kept(const TrainingPlan& plan, const Keys& model) {
  const Footprint f = example::played(plan, example::architecture(model));
  const ByBucket& by = example::peak_of(f, Phase::backward, 1).by_bucket;
  return at(by, Bucket::activations).count() + at(by, Bucket::attention_scores).count();
}

/// What one layer more keeps.
std::int64_t of_a_layer(const TrainingPlan& plan, const Keys& model, const std::string& layers = "num_hidden_layers") {
  const Keys big = example::with(model, {{"vocab_size", std::to_string(words)}});
  return kept(plan, example::with(big, {{layers, "3"}})) - kept(plan, example::with(big, {{layers, "2"}}));
}

TrainingPlan plan() { return example::plan(batch, length); }

TrainingPlan autocast() {
  TrainingPlan p = plan();
  p.precision.weights_dtype.value = WeightsDType::fp32;
  p.precision.autocast.value = Autocast::bf16;
  return p;
}

TrainingPlan fp32() {
  TrainingPlan p = plan();
  p.precision.weights_dtype.value = WeightsDType::fp32;
  return p;
}

TrainingPlan eager(TrainingPlan p) {
  p.kernels.attention.value = Attention::eager;
  return p;
}

TrainingPlan checkpointed(TrainingPlan p) {
  p.checkpointing.on.value = true;
  return p;
}

constexpr std::int64_t flash_extra = 1024;  // Its seed and offset, 512 each.

TEST(LayerKeeps, Bf16Flash) {
  EXPECT_EQ(of_a_layer(plan(), example::llama()),
            tokens * (16 * h + 4 * q + 4 * kv + 8 * inner + 4 * heads + 8) + flash_extra);
}

TEST(LayerKeeps, Bf16FlashWithHeadsWiderThanTheModel) {
  const std::int64_t wide = heads * 128, wide_kv = kv_heads * 128;
  EXPECT_EQ(of_a_layer(plan(), example::llama({{"head_dim", "128"}})),
            tokens * (16 * h + 4 * wide + 4 * wide_kv + 8 * inner + 4 * heads + 8) + flash_extra);
}

TEST(LayerKeeps, AutocastFlash) {
  EXPECT_EQ(of_a_layer(autocast(), example::llama()),
            tokens * (26 * h + 4 * q + 4 * kv + 8 * inner + 4 * heads + 8) + flash_extra);
}

TEST(LayerKeeps, Fp32EfficientWithoutGroups) {
  EXPECT_EQ(of_a_layer(fp32(), example::llama({{"num_key_value_heads", "4"}})),
            tokens * (24 * h + 8 * q + 8 * q + 16 * inner + 4 * heads + 8) + flash_extra);
}

TEST(LayerKeeps, Bf16Eager) {
  EXPECT_EQ(of_a_layer(eager(plan()), example::llama()),
            tokens * (16 * h + 8 * q + 8 * inner + 6 * heads * length + 8));
}

TEST(LayerKeeps, AutocastEager) {
  EXPECT_EQ(of_a_layer(eager(autocast()), example::llama()),
            tokens * (26 * h + 8 * q + 8 * inner + 6 * heads * length + 8));
}

TEST(LayerKeeps, Fp32Eager) {
  EXPECT_EQ(of_a_layer(eager(fp32()), example::llama()),
            tokens * (24 * h + 16 * q + 16 * inner + 4 * heads * length + 8));
}

TEST(LayerKeeps, Fp32MathWithGroups) {
  EXPECT_EQ(of_a_layer(fp32(), example::llama()), tokens * (24 * h + 16 * q + 16 * inner + 4 * heads * length + 8));
}

TEST(LayerKeeps, CheckpointedOnlyItsInput) {
  for (const bool reentrant : {false, true}) {
    TrainingPlan p = checkpointed(plan());
    p.checkpointing.reentrant.value = reentrant;
    EXPECT_EQ(of_a_layer(p, example::llama()), tokens * 2 * h) << reentrant;
  }
  EXPECT_EQ(of_a_layer(checkpointed(autocast()), example::llama()), tokens * 4 * h);
  EXPECT_EQ(of_a_layer(checkpointed(fp32()), example::llama()), tokens * 4 * h);
}

TEST(LayerKeeps, NormsOfQueriesAndKeys) {
  const std::int64_t norms = 6 * (q + kv) + 4 * (heads + kv_heads);
  EXPECT_EQ(of_a_layer(plan(), example::qwen3()) - of_a_layer(plan(), example::llama()), tokens * norms);
  const std::int64_t in_fp32 = 8 * (q + kv) + 4 * (heads + kv_heads);
  EXPECT_EQ(of_a_layer(eager(fp32()), example::qwen3()) - of_a_layer(eager(fp32()), example::llama()),
            tokens * in_fp32);
}

TEST(LayerKeeps, Gpt2) {
  EXPECT_EQ(of_a_layer(plan(), example::gpt2(), "n_layer"), tokens * (58 * h + 4 * heads + 16) + flash_extra);
}

TEST(LayerKeeps, Bert) {
  EXPECT_EQ(of_a_layer(plan(), example::bert()), tokens * (34 * h + 4 * heads + 16) + flash_extra);
}

TEST(LayerKeeps, UnderAMaskKeysAndValuesOfAllHeadsAndTheMaskAsABias) {
  TrainingPlan p = plan();
  p.batch.padding_mask.value = true;
  EXPECT_EQ(of_a_layer(p, example::llama()) - of_a_layer(plan(), example::llama()),
            tokens * 4 * (q - kv) + 2 * batch * length * length);
}

/// Frozen layers of width 256, 8 heads (4 of them for keys and values), inner width 768, all adapted with rank 16.
struct Adapted {
  static constexpr std::int64_t rank = 16, i = 768, w_kv = 128;
  Keys model =
      example::llama({{"intermediate_size", "768"}, {"num_attention_heads", "8"}, {"num_key_value_heads", "4"}});
  TrainingPlan plan = [] {
    TrainingPlan p = example::plan(batch, length);
    p.adapter.kind.value = Adapter::lora;
    p.adapter.rank.value = rank;
    p.adapter.targets.value = {"all-linear"};
    return p;
  }();
};

TEST(AdaptedLayerKeeps, OneCopyOfEachInputWhereTheAdaptersAreBf16) {
  Adapted a;
  a.plan.adapter.dtype.value = AdapterDType::as_base;
  EXPECT_EQ(of_a_layer(a.plan, a.model), tokens * 11'016 + flash_extra);
}

TEST(AdaptedLayerKeeps, AnFp32CopyForEachAdapterWhereTheyAreFp32) {
  const Adapted a;
  EXPECT_EQ(of_a_layer(a.plan, a.model), tokens * 17'896 + flash_extra);
}

TEST(AdaptedLayerKeeps, ABf16CopyForEachAdapterUnderAutocast) {
  Adapted a;
  a.plan.precision.autocast.value = Autocast::bf16;
  EXPECT_EQ(of_a_layer(a.plan, a.model), tokens * 13'064 + flash_extra);
}

TEST(AdaptedLayerKeeps, ADroppedCopyAndAMaskOfAByteForEachAdapter) {
  Adapted a;
  a.plan.adapter.dropout.value = 0.05;
  // The fp32 copies are dropout's input, which it does not keep.
  EXPECT_EQ(of_a_layer(a.plan, a.model), tokens * (17'896 + 6 * h + Adapted::i) + flash_extra);
}

TEST(AdaptedLayerKeeps, WithFusedKernelsItsInputsItsGatesAndCopiesOfTheAdapters) {
  Adapted a;
  const std::int64_t without = of_a_layer(a.plan, a.model);
  a.plan.kernels.lora_qkv.value = a.plan.kernels.lora_o.value = a.plan.kernels.lora_mlp.value = true;
  const std::int64_t i = Adapted::i, r = Adapted::rank;
  const std::int64_t copies = 2 * r * (2 * (h + h) + 2 * (h + Adapted::w_kv) + 3 * (h + i));
  EXPECT_EQ(without - of_a_layer(a.plan, a.model), tokens * (16 * h + 4 * h + 6 * i + 28 * r) - copies);
}

std::int64_t logits(const TrainingPlan& p, Phase phase) {
  const Footprint f =
      example::played(p, example::architecture(example::llama({{"vocab_size", std::to_string(words)}})));
  return at(example::peak_of(f, phase, 1).by_bucket, Bucket::logits_and_loss).count();
}

/// Labels and scalars beside the logits.
constexpr std::int64_t little = 16 * tokens + 4096;

TEST(Logits, Cost14BytesAnElementInBackwardWhereTheOutputsAreKept) {
  const std::int64_t cost = logits(plan(), Phase::backward) - 14 * tokens * words;
  EXPECT_GE(cost, 0);
  EXPECT_LE(cost, little);
}

TEST(Logits, Cost12WhereTheyAreDropped) {
  TrainingPlan p = plan();
  p.recipe.outputs_kept.value = false;
  const std::int64_t cost = logits(p, Phase::backward) - 12 * tokens * words;
  EXPECT_GE(cost, 0);
  EXPECT_LE(cost, little);
}

TEST(Logits, Cost10InTheLossItself) {
  const std::int64_t cost = logits(plan(), Phase::loss) - 10 * tokens * words;
  EXPECT_GE(cost, 0);
  EXPECT_LE(cost, little);
}

TEST(Logits, OfAMaskedLmHaveNoFp32Copy) {
  TrainingPlan p = plan();
  const Footprint f = example::played(p, example::architecture(example::bert({{"vocab_size", std::to_string(words)}})));
  const std::int64_t cost =
      at(example::peak_of(f, Phase::loss, 1).by_bucket, Bucket::logits_and_loss).count() - 4 * tokens * words;
  EXPECT_GE(cost, 0);
  EXPECT_LE(cost, little);
}

TEST(Logits, ConvertedByAccelerateCost16WhereTheyAreKept) {
  TrainingPlan p = plan();
  p.precision.outputs_to_fp32.value = true;
  const std::int64_t cost = logits(p, Phase::backward) - 16 * tokens * words;
  EXPECT_GE(cost, 0);
  EXPECT_LE(cost, little);
}

/// What the head and the loss need at their most, with so many words.
std::int64_t chunked(TrainingPlan p, std::int64_t vocabulary) {
  p.recipe.loss.value = Loss::chunked_logprob;
  const Footprint f =
      example::played(p, example::architecture(example::llama({{"vocab_size", std::to_string(vocabulary)}})));
  const auto bucket = static_cast<std::size_t>(Bucket::logits_and_loss);
  return f.bucket_peaks[bucket].by_bucket[bucket].count();
}

TEST(Logits, InChunksMakeNothingOfTokensTimesVocabulary) {
  TrainingPlan frozen = plan();
  frozen.adapter.kind.value = Adapter::lora;
  const std::int64_t cost = chunked(frozen, 64'000);
  EXPECT_EQ(chunked(frozen, 128'000), cost);
  const std::int64_t labelled = batch * (length - 1);
  EXPECT_GE(cost, labelled * 32'768 * 2);                  // One tile of logits,
  EXPECT_LE(cost, labelled * (32'768 * 2 + 16 * h + 64));  // the hidden states and a few numbers a row.
}

TEST(Logits, InChunksMakeTheHeadsGradientInFp32) {
  EXPECT_EQ(chunked(plan(), 128'000) - chunked(plan(), 64'000), 64'000 * h * 4);
}

TEST(WeightsAndGradients, OfFullFineTuning) {
  const Footprint f = example::played(plan(), example::architecture(example::llama()));
  // Per layer: two norms, q and o, k and v, gate, up and down; beside them embedding, head and the last norm.
  const std::int64_t layer = 2 * h + 2 * h * q + 2 * h * kv + 3 * h * inner;
  const std::int64_t all = 2 * layer + 2 * 1000 * h + h;
  EXPECT_EQ(f.parameters, all);
  EXPECT_EQ(f.trainable_parameters, all);
  EXPECT_EQ(at(f.peaks.front().by_bucket, Bucket::weights).count(), 2 * all);  // All of them multiples of 512.
  const PhasePeak& step = example::peak_of(f, Phase::optimizer_step, 1);
  EXPECT_EQ(at(step.by_bucket, Bucket::gradients).count(), 2 * all);
}

TEST(WeightsAndGradients, TiedEmbeddingsAreHeldOnce) {
  const Keys tied = example::llama({{"tie_word_embeddings", "true"}});
  const Footprint f = example::played(plan(), example::architecture(tied));
  const Footprint apart = example::played(plan(), example::architecture(example::llama()));
  EXPECT_EQ(apart.parameters - f.parameters, 1000 * h);
  const auto weights = [](const Footprint& of) { return at(of.peaks.front().by_bucket, Bucket::weights).count(); };
  EXPECT_EQ(weights(apart) - weights(f), 2 * 1000 * h);
}

TEST(WeightsAndGradients, NormsEmbeddingAndHeadInFp32WhereTheyAreHeldSo) {
  TrainingPlan p = plan();
  p.precision.fp32_norms.value = true;
  const Footprint f = example::played(p, example::architecture(example::llama()));
  const std::int64_t linear = 2 * (2 * h * q + 2 * h * kv + 3 * h * inner);
  const std::int64_t rest = 2 * 2 * h + 2 * 1000 * h + h;
  EXPECT_EQ(at(f.peaks.front().by_bucket, Bucket::weights).count(), 2 * linear + 4 * rest);
}

TEST(WeightsAndGradients, WhatGoesThroughFp32WhileLoadingIsBackBeforeTheAdaptersCome) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.adapter.targets.value = {"q_proj"};
  const auto played = [&] { return *estimate(p, example::architecture(example::llama()), Detail::events); };
  const auto emptied = [](const Footprint& f) {
    return std::ranges::count(f.events, Event::Kind::empty_cache, &Event::kind);
  };
  const Footprint before = played();
  p.precision.fp32_while_loading.value = true;
  const Footprint f = played();
  const std::int64_t linear = 2 * (2 * h * q + 2 * h * kv + 3 * h * inner);
  const std::int64_t rest = 2 * 2 * h + 2 * 1000 * h + h;
  const Bytes loading = at(f.peaks.front().by_bucket, Bucket::weights);
  EXPECT_EQ(loading.count(), 2 * linear + 4 * rest + 2 * 1000 * h);  // The head in both dtypes.
  EXPECT_EQ(f.peak.total, before.peak.total);
  EXPECT_EQ(emptied(f), 1);
  EXPECT_EQ(emptied(before), 0);
  p.precision.weights_dtype.value = WeightsDType::fp32;
  EXPECT_EQ(emptied(played()), 0);
}

TEST(WeightsAndGradients, AQuantizedModelHoldsTheRestInFp32WherePeftUpcastsIt) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.quantization.kind.value = Quantization::nf4;
  p.adapter.targets.value = {"q_proj"};
  const auto weights = [&] {
    const Footprint f = example::played(p, example::architecture(example::llama()));
    return at(example::peak_of(f, Phase::forward, 1).by_bucket, Bucket::weights).count();
  };
  const std::int64_t in_bf16 = weights();
  p.quantization.kbit_upcast.value = true;
  EXPECT_EQ(weights() - in_bf16, 2 * (2 * 2 * h + 2 * 1000 * h + h));
}

// The bytes of a llama of `words` words that is loaded in 4 bits: while it is loaded, and once it is.
struct Loading {
  std::int64_t highest = 0;
  std::int64_t left = 0;
};

Loading quantized(const TrainingPlan& p, std::int64_t words_known) {
  const Keys keys = example::llama({{"vocab_size", std::to_string(words_known)}});
  const Footprint f = example::played(p, example::architecture(keys));
  const PhasePeak& later = example::peak_of(f, Phase::between, 1);
  return {f.peaks.front().total.count(), at(later.by_bucket, Bucket::weights).count()};
}

TEST(Loading, InFourBitsHoldsA16BitCopyOfTheWeightAtHand) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 1;
  p.quantization.kind.value = Quantization::nf4;
  p.quantization.double_quantization.value = false;
  const Loading l = quantized(p, 1000);
  // The last of the largest is the up projection of the last layer; after it come its attention and two norms.
  const std::int64_t after = (2 * h * q + 2 * h * kv) / 2;
  EXPECT_LE(std::abs(l.highest - (l.left - after + 2 * h * inner)), 40'000);
}

TEST(Loading, WherePeftUpcastsHoldsTheHeadInBothTypes) {
  TrainingPlan p = plan();
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = 1;
  p.adapter.targets.value = {"k_proj"};
  p.quantization.kind.value = Quantization::nf4;
  p.quantization.kbit_upcast.value = true;
  const Loading l = quantized(p, 8000);
  const std::int64_t adapters = 2 * (2 * (h + kv));
  EXPECT_LE(std::abs(l.highest - (l.left - adapters + 2 * 8000 * h)), 20'000);
}

TEST(AutocastCopies, AreTwoBytesAWeightOfEachProduct) {
  const Footprint f = example::played(autocast(), example::architecture(example::llama({{"vocab_size", "32000"}})));
  const std::int64_t layer = 2 * h * q + 2 * h * kv + 3 * h * inner;
  EXPECT_EQ(at(example::peak_of(f, Phase::backward, 1).by_bucket, Bucket::autocast_copies).count(),
            2 * (2 * layer + words * h));
  EXPECT_EQ(at(example::peak_of(f, Phase::optimizer_step, 1).by_bucket, Bucket::autocast_copies).count(), 0);
}

TEST(Gradients, OutliveTheStepOnlyWhereTheyAreNotSetToNone) {
  const auto held = [](bool to_none) {
    TrainingPlan p = plan();
    p.optimizer.set_grads_to_none.value = to_none;
    const Footprint f = example::played(p, example::architecture(example::llama()));
    return at(example::peak_of(f, Phase::loss, 2).by_bucket, Bucket::gradients).count();
  };
  EXPECT_EQ(held(true), 0);
  const std::int64_t all = 2 * (2 * h + 2 * h * q + 2 * h * kv + 3 * h * inner) + 2 * 1000 * h + h;
  EXPECT_EQ(held(false), 2 * all);
}

TEST(Gradients, AreAliveInTheSecondMicroBatchsLoss) {
  TrainingPlan p = plan();
  const auto held = [&] {
    const Footprint f = example::played(p, example::architecture(example::llama()));
    return at(example::peak_of(f, Phase::loss, 1).by_bucket, Bucket::gradients).count();
  };
  EXPECT_EQ(held(), 0);
  p.batch.gradient_accumulation_steps.value = 2;
  EXPECT_GT(held(), 0);
}

}  // namespace
}  // namespace oomplan
