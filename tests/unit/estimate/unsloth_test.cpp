// Unsloth's layers, the buffers of its checkpoints, and its loss in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/estimate/fit_check.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t length = 8192;
constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t input = length * 256 * 2;  // Of a layer: 4 MiB.

example::Keys model(const example::Keys& changes = {}) {
  return example::llama(example::with({{"max_position_embeddings", "8192"}, {"num_hidden_layers", "6"}}, changes));
}

TrainingPlan plan(Offload offload = Offload::buffered) {
  TrainingPlan p = example::plan(1, length);
  p.kernels.unsloth.value = UnslothLayers::xformers;
  p.batch.joined.value = 1;
  p.recipe.loss.value = Loss::unsloth_fused;
  p.recipe.loss_part.value = std::int64_t{4} << 30;
  p.recipe.outputs_kept.value = false;
  p.adapter.kind.value = Adapter::lora;
  p.adapter.dtype.value = AdapterDType::fp32;
  p.adapter.targets.value = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
  p.checkpointing.on.value = true;
  p.checkpointing.reentrant.value = true;
  p.checkpointing.offload.value = offload;
  return p;
}

std::int64_t in_loss(const Footprint& footprint, int step, Bucket bucket) {
  return at(example::peak_of(footprint, Phase::loss, step).by_bucket, bucket).count();
}

std::vector<std::string> refusals(const TrainingPlan& p, const Architecture& architecture) {
  const auto footprint = estimate(p, architecture);
  std::vector<std::string> out;
  if (!footprint) {
    for (const Diagnostic& error : footprint.errors()) out.push_back(error.message);
  }
  return out;
}

// get_chunk_size: a multiple of four, where the logits in fp32 are more than one part may have.
TEST(UnslothLoss, PartsAreOneOrAMultipleOfFour) {
  TrainingPlan p = plan();
  const Architecture llama = example::architecture(model());
  constexpr std::int64_t logits = length * 1000 * 4;
  const auto of_part = [&](std::int64_t most) {
    p.recipe.loss_part.value = most;
    return in_loss(example::played(p, llama), 2, Bucket::logits_and_loss);
  };
  const std::int64_t whole = of_part(logits);
  // Logits and their gradient in 2 bytes, and two numbers of 4 bytes a row.
  constexpr std::int64_t of_row = 1000 * 2 * 2 + 2 * 4;
  EXPECT_EQ(whole - of_part(logits - 1), length / 4 * 3 * of_row);
  EXPECT_EQ(of_part(logits / 4), of_part(logits - 1));
  EXPECT_EQ(whole - of_part(logits / 4 - 1), length / 8 * 7 * of_row);
}

TEST(UnslothCheckpoints, WaitOnTheHostAndComeBackIntoTwoBuffers) {
  const Architecture llama = example::architecture(model());
  const Footprint kept = example::played(plan(Offload::none), llama);
  const Footprint offloaded = example::played(plan(), llama);
  // In the first step all inputs go, and the second buffer has not grown; later the last one's input stays.
  EXPECT_EQ(in_loss(kept, 1, Bucket::activations) - in_loss(offloaded, 1, Bucket::activations),
            6 * input - (input + 2 * mib));
  EXPECT_EQ(in_loss(kept, 2, Bucket::activations) - in_loss(offloaded, 2, Bucket::activations), 5 * input - 2 * input);
}

TEST(UnslothCheckpoints, SmallInputsStay) {
  TrainingPlan p = plan();
  p.batch.sequence_length.value = 4096;  // 2 MiB, which is not more than that.
  const Architecture llama = example::architecture(model());
  const Footprint offloaded = example::played(p, llama);
  p.checkpointing.offload.value = Offload::none;
  const Footprint kept = example::played(p, llama);
  EXPECT_EQ(in_loss(offloaded, 2, Bucket::activations) - in_loss(kept, 2, Bucket::activations), 2 * 2 * mib);
}

TEST(UnslothLayers, WhatNoRunShowedIsUndecided) {
  const Architecture llama = example::architecture(model());
  const auto refused = [&](auto change, const Architecture& architecture) {
    TrainingPlan p = plan();
    change(p);
    return refusals(p, architecture);
  };
  const auto nothing = [](TrainingPlan&) {};
  EXPECT_THAT(refusals(plan(), llama), testing::IsEmpty());
  EXPECT_THAT(refused(nothing, example::architecture(example::gpt2())), Contains(HasSubstr("gpt2 models by Unsloth")));
  EXPECT_THAT(refused(nothing, example::architecture(model({{"max_position_embeddings", "4096"}}))),
              Contains(HasSubstr("rows longer than the model's positions")));
  EXPECT_THAT(refused(nothing, example::architecture(example::llama())),
              Contains(HasSubstr("no max_position_embeddings is known")));
  EXPECT_THAT(refused(nothing, example::architecture(model({{"attention_bias", "true"}}))),
              Contains(HasSubstr("biases of attention")));
  EXPECT_THAT(refused([](TrainingPlan& p) { p.adapter.dropout.value = 0.1; }, llama),
              Contains(HasSubstr("dropout of adapters")));
  EXPECT_THAT(refused(
                  [](TrainingPlan& p) {
                    p.adapter.targets.value = {"q_proj", "v_proj"};
                  },
                  llama),
              Contains(HasSubstr("adapters on some of q, k and v")));
  EXPECT_THAT(refused([](TrainingPlan& p) { p.kernels.unsloth.value = UnslothLayers::none; }, llama),
              Contains(HasSubstr("unsloth_fused without Unsloth's layers")));
}

example::Keys gemma2(const example::Keys& changes = {}) {
  return example::with({{"model_type", "\"gemma2\""}, {"head_dim", "64"}, {"vocab_size", "262144"}}, changes);
}

TrainingPlan padded() {
  TrainingPlan p = plan();
  p.batch.joined.value = 0;
  p.batch.sequence_length.value = 2048;
  return p;
}

// slow_attention_softcapping's scores are counted in full, and no peak is told of them.
TEST(UnslothCapped, ALossOfCappedLogitsKeepsThemInFp32) {
  const Footprint capped = example::played(padded(), example::architecture(model(gemma2())));
  const Footprint plain =
      example::played(padded(), example::architecture(model(gemma2({{"final_logit_softcapping", "null"}}))));
  EXPECT_EQ(capped.peak.phase, Phase::loss);
  EXPECT_EQ(in_loss(capped, 2, Bucket::logits_and_loss) - in_loss(plain, 2, Bucket::logits_and_loss),
            2048 * (262144 * 4 - 2 * 4));
  EXPECT_THAT(refusals(padded(), example::architecture(model(gemma2({{"vocab_size", "1000"}})))),
              Contains(HasSubstr("whose peak is not the loss")));
}

TEST(UnslothCapped, MasksOfAllPositionsStay) {
  const auto inputs = [](std::int64_t tokens) {
    TrainingPlan p = padded();
    p.batch.sequence_length.value = tokens;
    return in_loss(example::played(p, example::architecture(model(gemma2()))), 2, Bucket::attention_scores);
  };
  EXPECT_EQ(inputs(2048), 2 * 2048 * 2048 * 2);
  EXPECT_EQ(inputs(4096), 2 * 4096 * 4096 * 2);
}

TEST(UnslothCapped, WhatNoRunShowedIsRefused) {
  const Architecture capped = example::architecture(model(gemma2()));
  const auto refused = [&](const auto& change) {
    TrainingPlan p = padded();
    change(p);
    return refusals(p, capped);
  };
  EXPECT_THAT(refused([](TrainingPlan& p) { p.batch.joined.value = 1; }), Contains(HasSubstr("joined rows")));
  EXPECT_THAT(refused([](TrainingPlan& p) { p.checkpointing.on.value = false; }),
              Contains(HasSubstr("without checkpoints")));
}

example::Keys gemma(const example::Keys& changes = {}) {
  return example::with({{"model_type", "\"gemma3_text\""},
                        {"num_hidden_layers", "6"},
                        {"head_dim", "64"},
                        {"vocab_size", "262144"},
                        {"layer_types", "null"},
                        {"sliding_window_pattern", "6"}},
                       changes);
}

// FastModel leaves Gemma 3 to transformers' code, which torch.compile runs, whatever the plan says of its own layers.
TEST(UnslothCompiled, IsPlayedWhereTheLossIsThePeak) {
  TrainingPlan p = plan();
  const Architecture gemma3 = example::architecture(model(gemma()));
  p.kernels.unsloth.value = UnslothLayers::none;
  const Footprint none = example::played(p, gemma3);
  EXPECT_EQ(none.peak.phase, Phase::loss);
  EXPECT_EQ(at(none.peak.by_bucket, Bucket::autocast_copies).count(), 0);
  p.kernels.unsloth.value = UnslothLayers::xformers;
  EXPECT_EQ(example::played(p, gemma3).peak.total, none.peak.total);
  EXPECT_THAT(refusals(p, example::architecture(model(gemma({{"vocab_size", "1000"}})))),
              Contains(HasSubstr("whose peak is not the loss")));
  EXPECT_THAT(refusals(p, example::architecture(model(gemma({{"final_logit_softcapping", "30.0"}})))),
              Contains(HasSubstr("capped or scaled logits of gemma3_text")));
}

TEST(UnslothCompiled, WhatNoRunShowedIsRefused) {
  const auto refused = [](const auto& change, const example::Keys& keys = {}) {
    TrainingPlan p = plan();
    change(p);
    return refusals(p, example::architecture(model(gemma(keys))));
  };
  EXPECT_THAT(refused([](TrainingPlan& p) { p.batch.joined.value = 0; }), Contains(HasSubstr("padded rows")));
  EXPECT_THAT(refused([](TrainingPlan& p) { p.quantization.kind.value = Quantization::nf4; }),
              Contains(HasSubstr("4-bit weights")));
  EXPECT_THAT(refused([](TrainingPlan& p) { p.checkpointing.on.value = false; }),
              Contains(HasSubstr("without checkpoints")));
  const auto nothing = [](TrainingPlan&) {};
  EXPECT_THAT(refused(nothing, {{"num_hidden_layers", "2"}, {"sliding_window_pattern", "2"}}),
              Contains(HasSubstr("fewer than three layers")));
  EXPECT_THAT(refused(nothing, {{"sliding_window_pattern", "1"}}), Contains(HasSubstr("all of one kind")));
  TrainingPlan p = plan();
  p.kernels.unsloth.value = UnslothLayers::none;
  p.framework = "unsloth 2026.8.19 on transformers 4.57.6";
  EXPECT_THAT(refusals(p, example::architecture(model())), Contains(HasSubstr("llama models by Unsloth's FastModel")));
}

// FastLlamaModel.patch_peft_model leaves layers with biases to peft, whose dropout-free path keeps what each layer is
// given.
TEST(UnslothLayers, BiasesLeaveProjectionsToPeft) {
  TrainingPlan p = plan();
  p.adapter.targets.value = {"q_proj", "v_proj"};  // Of no function of all three.
  EXPECT_THAT(refusals(p, example::architecture(model())), Contains(HasSubstr("adapters on some of q, k and v")));
  EXPECT_THAT(refusals(p, example::architecture(model({{"model_type", "\"qwen2\""}}))), testing::IsEmpty());
}

// A checkpoint in 4 bits that leaves layers in 16: what it has beyond all of them in 4 bits stays for all of the run.
TEST(UnslothCheckpoint, WhatItLeavesIn16BitsIsHeldBesideTheRest) {
  TrainingPlan p = plan();
  p.quantization.kind.value = Quantization::nf4;
  const Architecture llama = example::architecture(model());
  const auto weights = [&](std::int64_t bytes) {
    p.quantization.checkpoint.value = bytes;
    return in_loss(example::played(p, llama), 2, Bucket::weights);
  };
  const std::int64_t least = weights(0);
  EXPECT_EQ(weights(1), least) << "smaller than all in 4 bits";
  const std::int64_t larger = weights(64 * mib);
  EXPECT_GT(larger, least);
  EXPECT_EQ(weights(96 * mib) - larger, 32 * mib);
  p.quantization.skipped.value = {"lm_head", "model.layers"};
  EXPECT_EQ(weights(96 * mib) - larger, 32 * mib) << "its size counts, whichever layers they are";
}

// Which layers a checkpoint leaves in 16 bits nobody may know: all are played, and the range ends at none.
TEST(UnslothCheckpoint, LayersThatNobodyNamesAreARange) {
  TrainingPlan p = plan();
  p.quantization.kind.value = Quantization::nf4;
  const Architecture llama = example::architecture(model());
  const Bytes least = example::played(p, llama).peak.tensors();
  p.quantization.skipped.value = {"lm_head", "model.layers"};
  p.quantization.skipped.origin.kind = Origin::Kind::config;
  EXPECT_FALSE(open_layers_of(p)) << "a config says them";
  p.quantization.skipped.origin.kind = Origin::Kind::assumed;
  ASSERT_TRUE(open_layers_of(p));
  const Footprint most = example::played(p, llama);
  const std::vector<Contribution> unknown = unknown_of(p, llama, most);
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown.front().name, "layers in 16 bits");
  EXPECT_EQ(most.peak.tensors() - unknown.front().upper, least);
  Gpu small;
  small.total = most.peak.tensors();
  const CheckedFit checked = FitCheck(p, llama).on(small, small.total);
  ASSERT_EQ(checked.errors.size(), 1U);
  EXPECT_THAT(checked.errors.front().message, HasSubstr("leaves in 16 bits decides whether the run fits"));
  p.quantization.checkpoint.value = 96 * mib;
  EXPECT_FALSE(open_layers_of(p));
}

// What is free on the card decides how many parts the loss has.
TEST(UnslothLoss, OnASmallCardItsPartsAreNotKnown) {
  TrainingPlan p = plan();
  const Footprint footprint = example::played(p, example::architecture(model({{"vocab_size", "100000"}})));
  Gpu card;
  card.total = Bytes::gib(24);
  EXPECT_EQ(undecided_on(p, footprint, card), std::nullopt);
  card.total = Bytes::gib(8);
  ASSERT_TRUE(undecided_on(p, footprint, card).has_value());
  p.recipe.loss_part.origin.kind = Origin::Kind::command_line;
  EXPECT_EQ(undecided_on(p, footprint, card), std::nullopt);
}

}  // namespace
}  // namespace oomplan
