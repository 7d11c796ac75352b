// Adapters other than LoRA, and LoRA's initialisations: what is trained, what a step keeps, what is not played.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plans.hpp"

namespace oomplan::example {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t layers = 2, width = 256, inner = 512;

/// A Llama of square attention matrices, whose MLP is twice as wide.
Architecture model() {
  return architecture(llama({{"hidden_size", "256"},
                             {"intermediate_size", "512"},
                             {"num_hidden_layers", "2"},
                             {"num_attention_heads", "4"},
                             {"num_key_value_heads", "4"}}));
}

TrainingPlan adapted(Adapter kind, const std::vector<std::string>& targets = {"q_proj", "down_proj"}) {
  TrainingPlan p = plan(2, 128);
  p.adapter.kind.value = kind;
  p.adapter.rank.value = 8;
  p.adapter.targets.value = targets;
  p.adapter.block.value = 32;
  for (Origin* said : {&p.adapter.rank.origin, &p.adapter.dropout.origin}) said->kind = Origin::Kind::config;
  if (kind == Adapter::ia3) p.adapter.feedforward.origin.kind = Origin::Kind::config;
  return p;
}

std::int64_t trained(const TrainingPlan& p) { return played(p, model()).trainable_parameters; }

std::vector<std::string> errors(const TrainingPlan& p, const Architecture& of = model()) {
  std::vector<std::string> out;
  const auto footprint = estimate(p, of);
  if (!footprint) {
    for (const Diagnostic& d : footprint.errors()) out.push_back(d.message);
  }
  return out;
}

// Where nothing is said LoRA's defaults stand, and peft has others for each kind.
TEST(Adapters, DefaultsOfLoraAreNotTheirs) {
  const auto without = [](Adapter kind, auto member) {
    TrainingPlan p = adapted(kind);
    (p.adapter.*member).origin.kind = Origin::Kind::framework_default;
    return errors(p);
  };
  EXPECT_THAT(without(Adapter::ia3, &AdapterFacts::feedforward), ElementsAre(HasSubstr("without ia3_feedforward")));
  EXPECT_THAT(without(Adapter::vera, &AdapterFacts::dropout), ElementsAre(HasSubstr("without lora_dropout")));
  for (const Adapter kind : {Adapter::vera, Adapter::loha, Adapter::lokr})
    EXPECT_THAT(without(kind, &AdapterFacts::rank), ElementsAre(HasSubstr("without lora_rank")));
  EXPECT_THAT(without(Adapter::oft, &AdapterFacts::rank), ElementsAre());
}

TEST(Adapters, WhatAKindDoesNotHaveIsNotIgnored) {
  TrainingPlan p = adapted(Adapter::lokr);
  p.adapter.dropout.value = 0.3;
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("with dropout")));
  p = adapted(Adapter::lora);
  p.adapter.feedforward.value = {"down_proj"};
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("ia3_feedforward")));
}

TEST(Adapters, ADecompositionHasNoMoreVectorsThanTheSmallerSide) {
  const Architecture narrow = architecture(llama({{"hidden_size", "256"},
                                                  {"intermediate_size", "512"},
                                                  {"num_hidden_layers", "2"},
                                                  {"num_attention_heads", "4"},
                                                  {"num_key_value_heads", "1"}}));
  constexpr std::int64_t key = 64;
  TrainingPlan p = adapted(Adapter::lora, {"k_proj"});
  p.adapter.rank.value = 128;
  EXPECT_EQ(played(p, narrow).trainable_parameters, layers * 128 * (width + key));
  p.adapter.init.value = AdapterInit::olora;
  EXPECT_EQ(played(p, narrow).trainable_parameters, layers * key * (width + key));
}

TEST(Adapters, Ia3HasAFactorForEachOutputOrEachInput) {
  TrainingPlan p = adapted(Adapter::ia3);
  EXPECT_EQ(trained(p), layers * (width + width));
  p.adapter.feedforward.value = {"down_proj"};
  EXPECT_EQ(trained(p), layers * (width + inner));
}

TEST(Adapters, VeraTrainsVectorsAndHoldsTheMatricesOnce) {
  const TrainingPlan p = adapted(Adapter::vera);
  EXPECT_EQ(trained(p), layers * 2 * (width + 8));
  const auto loaded = [](const TrainingPlan& of) {
    const Footprint f = played(of, model());
    return at(f.bucket_peaks.at(static_cast<std::size_t>(Bucket::weights)).by_bucket, Bucket::weights).count();
  };
  const auto alone = [&](std::int64_t rank) {
    TrainingPlan q = p;
    q.adapter.rank.value = rank;
    return loaded(q);
  };
  // In fp32: rank × the widest input, and the widest output × rank; and a vector of the rank in each layer.
  EXPECT_EQ(alone(1024) - alone(512), 4 * 512 * (inner + width) + layers * 2 * 4 * 512);
}

TEST(Adapters, OftHasTheUpperTriangleOfEachBlock) {
  TrainingPlan p = adapted(Adapter::oft);
  EXPECT_EQ(trained(p), layers * (width / 32 + inner / 32) * (32 * 31 / 2));
  p.adapter.block.value = 48;  // Of 256 the next divisor is 32 or 64; the lower one of two as far.
  EXPECT_EQ(trained(p), layers * (width / 32 + inner / 32) * (32 * 31 / 2));
  p.adapter.block.value = 0;
  EXPECT_EQ(trained(p), layers * 8 * (32 * 31 / 2 + 64 * 63 / 2));
}

TEST(Adapters, LoHaHasTwoOfLowRank) {
  EXPECT_EQ(trained(adapted(Adapter::loha)), layers * 2 * 8 * (3 * width + inner));
}

TEST(Adapters, LoKrHasASmallMatrixAndOneOfLowRankWhereItIsLarge) {
  // 256 is 16 × 16, 512 is 16 × 32.
  TrainingPlan p = adapted(Adapter::lokr);
  p.adapter.rank.value = 4;
  EXPECT_EQ(trained(p), layers * (16 * 16 + 4 * (16 + 16) + 16 * 16 + 4 * (16 + 32)));
  p.adapter.rank.value = 8;  // Half of 16: the first one's second matrix is whole.
  EXPECT_EQ(trained(p), layers * (16 * 16 + 16 * 16 + 16 * 16 + 8 * (16 + 32)));
}

TEST(Adapters, WhatNoRunShowedIsUndecided) {
  for (const Adapter kind : {Adapter::ia3, Adapter::vera, Adapter::oft, Adapter::loha, Adapter::lokr}) {
    EXPECT_THAT(errors(adapted(kind)), ElementsAre());
    const auto refuses = [&](const std::string& what, auto change) {
      TrainingPlan p = adapted(kind);
      change(p);
      EXPECT_THAT(errors(p), ::testing::Contains(HasSubstr(what)));
    };
    refuses("over weights quantized in this way",
            [](TrainingPlan& p) { p.quantization.kind.value = Quantization::nf4; });
    refuses("of a model spread over ranks in this way", [](TrainingPlan& p) { p.mesh = mesh(Sharding::ddp, 2); });
    refuses("beside modules_to_save", [](TrainingPlan& p) { p.adapter.modules_to_save.value = {"lm_head"}; });
    refuses("by axolotl", [](TrainingPlan& p) { p.framework = "axolotl 0.18.0 on transformers 5.14.1"; });
    refuses("in DPO", [](TrainingPlan& p) { p.recipe.kind.value = RecipeKind::dpo; });  // By whom, nobody said.
    refuses("in KTO", [](TrainingPlan& p) {
      p.framework = "trl 1.16.0 on transformers 5.23.0";
      p.recipe.kind.value = RecipeKind::kto;
    });
    refuses("in fused LoRA kernels", [](TrainingPlan& p) { p.kernels.lora_mlp.value = true; });
    refuses("beside Liger's kernels", [](TrainingPlan& p) {
      p.framework = "trl 1.16.0 on transformers 5.23.0";
      p.recipe.kind.value = RecipeKind::dpo;
      p.kernels.liger_rms_norm.value = true;
    });
    refuses("that peft chooses", [](TrainingPlan& p) { p.adapter.targets.value = {"peft-default"}; });
    refuses("on an embedding", [](TrainingPlan& p) { p.adapter.targets.value = {"embed_tokens"}; });
    refuses("on the head", [](TrainingPlan& p) { p.adapter.targets.value = {"lm_head"}; });
  }
  EXPECT_THAT(errors(adapted(Adapter::loha, {"c_attn"}), architecture(gpt2())),
              ElementsAre("LoHa of gpt2 is not modelled yet"));
}

TEST(Adapters, WhatRunsOfTrlShowedIsDecided) {
  for (const Adapter kind : {Adapter::ia3, Adapter::vera, Adapter::oft, Adapter::loha, Adapter::lokr}) {
    TrainingPlan p = adapted(kind);
    p.framework = "trl 1.16.0 on transformers 5.23.0";
    const auto with = [&](auto change) {
      TrainingPlan q = p;
      change(q);
      return errors(q);
    };
    EXPECT_THAT(with([](TrainingPlan& q) { q.kernels.liger_rms_norm.value = true; }), ElementsAre());
    EXPECT_THAT(with([](TrainingPlan& q) { q.mesh = mesh(Sharding::ddp, 2); }), ElementsAre());
    EXPECT_THAT(with([](TrainingPlan& q) { q.adapter.modules_to_save.value = {"lm_head"}; }), ElementsAre());
    const bool chooses = kind != Adapter::ia3;
    EXPECT_EQ(with([](TrainingPlan& q) { q.adapter.layers.value = {"1"}; }).empty(), chooses);
    const bool quantizes = kind != Adapter::loha && kind != Adapter::lokr;
    EXPECT_EQ(with([](TrainingPlan& q) { q.quantization.kind.value = Quantization::nf4; }).empty(), quantizes);
    EXPECT_EQ(with([](TrainingPlan& q) { q.quantization.kind.value = Quantization::int8; }).empty(), quantizes);
    p.framework = "trl 1.16.0 on transformers 5.14.1";  // And peft 0.19.
    EXPECT_THAT(errors(p), ElementsAre(HasSubstr("by trl 1.16.0 on transformers 5.14.1")));
  }
}

TEST(LoraInit, ADecompositionChangesNothingOfAStep) {
  TrainingPlan p = adapted(Adapter::lora);
  p.batch.sequence_length.value = 2048;
  const Bytes plain = played(p, model()).peak.tensors();
  for (const AdapterInit init : {AdapterInit::pissa_niter, AdapterInit::olora}) {
    p.adapter.init.value = init;
    EXPECT_EQ(played(p, model()).peak.tensors(), plain);
  }
}

TEST(LoraInit, WhereItTakesMoreThanAStepItIsUndecided) {
  for (const AdapterInit init : {AdapterInit::pissa_niter, AdapterInit::olora}) {
    TrainingPlan p = adapted(Adapter::lora);
    p.adapter.init.value = init;
    p.batch.micro_batch_size.value = 1;
    p.batch.sequence_length.value = 4;
    EXPECT_THAT(errors(p), ElementsAre(HasSubstr("takes more than a step")));
    p.adapter.init.value = AdapterInit::plain;
    EXPECT_THAT(errors(p), ElementsAre());
  }
}

TEST(LoraInit, WhatNoRunShowedIsUndecided) {
  TrainingPlan p = adapted(Adapter::lora);
  p.adapter.init.value = AdapterInit::pissa_niter;
  p.quantization.kind.value = Quantization::nf4;
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("pissa_niter over quantized weights")));
  p.quantization.kind.value = Quantization::none;
  p.mesh = mesh(Sharding::ddp, 2);
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("pissa_niter of a model on several ranks")));
  p.mesh = {};
  p.adapter.rank.value = 512;
  EXPECT_THAT(errors(p), ElementsAre(HasSubstr("pissa_niter of a rank above 256")));
}

}  // namespace
}  // namespace oomplan::example
