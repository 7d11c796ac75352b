// Bytes of state and of the step itself, an element and a parameter.
#include "optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decay.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::Contains;

Parameter with_gradient(Torch& t, const Dims& sizes, DType dtype, Part part = Part::matrix) {
  const Tensor p = leaf(t, sizes, dtype);
  p->grad = t.empty(sizes, dtype, "gradient");
  return {{}, part, sizes, true, 1, false, p, p};
}

/// Parameters with gradients, and one step of an optimizer on them after another.
class Stepped {
 public:
  Stepped(std::string_view name, const std::vector<Dims>& shapes, DType dtype = DType::fp32)
      : optimizer_(make_optimizer(name, false)) {
    for (const Dims& shape : shapes) {
      parameters.push_back(with_gradient(torch, shape, dtype));
    }
  }

  Watch step() {
    Watch watch(torch);
    optimizer_->step(torch, parameters);
    return watch;
  }

  Torch torch{};
  Parameters parameters{};

 private:
  std::unique_ptr<Optimizer> optimizer_;
};

constexpr std::int64_t n = 64 * 1024;  // Elements of the large parameter; the small one has n / 2.
const std::vector<Dims> two{{64, 1024}, {32, 1024}};
constexpr std::int64_t all = n + n / 2;

/// The state after a step, and the most that the step needs beside it.
struct Cost {
  std::int64_t state = 0;
  std::int64_t first = 0;  ///< Above weights and gradients, state being made included.
  std::int64_t later = 0;  ///< Above weights, gradients and state.
};

Cost cost(std::string_view name, DType dtype = DType::fp32, const std::vector<Dims>& shapes = two) {
  Stepped s(name, shapes, dtype);
  const Watch first = s.step();
  const std::int64_t state = first.net();
  const std::int64_t peak = first.peak();
  const Watch later = s.step();
  EXPECT_EQ(later.net(), 0) << name;
  return {state, peak, later.peak()};
}

TEST(Decay, GoesByTheNameAndByTheClassOfLayerNorm) {
  const auto of = [](const std::string& name, bool of_layer_norm = false) {
    Parameter p;
    p.name = name;
    p.of_layer_norm = of_layer_norm;
    return decays(p);
  };
  EXPECT_TRUE(of("model.layers.*.mlp.down_proj.weight"));
  EXPECT_TRUE(of("model.layers.*.mlp.act_fn.alpha_p"));
  EXPECT_TRUE(of("model.layers.*.post_norm1.weight"));
  EXPECT_TRUE(of("transformer.normalizer.weight"));
  EXPECT_FALSE(of("transformer.ln_f.weight", true));
  for (const std::string name : {"model.norm.weight", "norm", "model.layers.*.self_attn.q_norm.weight",
                                 "h.*.mixer.dt_bias", "model.layers.*.input_layernorm.weight", "model.RMSNorm_0.weight",
                                 "transformer.blocks.*.norm_attn_norm.attn.Wqkv.weight"}) {
    EXPECT_FALSE(of(name)) << name;
  }
}

TEST(AdamW, ForeachKeepsTwoMomentsAndTakesAllRootsAtOnce) {
  const Cost c = cost("adamw_foreach");
  EXPECT_EQ(c.state, 8 * all);
  EXPECT_EQ(c.first, 12 * all);
  EXPECT_EQ(c.later, 4 * all);
}

TEST(AdamW, ItsStateIsOfTheParametersType) {
  const Cost c = cost("adamw_foreach", DType::bf16);
  EXPECT_EQ(c.state, 4 * all);
  EXPECT_EQ(c.later, 2 * all);
}

TEST(AdamW, ForLoopNeedsARootAndAQuotientAndKeepsTheLastQuotient) {
  EXPECT_EQ(cost("adamw_for_each", DType::fp32, {{64, 1024}}).state, 8 * n);
  EXPECT_EQ(cost("adamw_for_each", DType::fp32, {{64, 1024}}).later, 2 * 4 * n);
  EXPECT_EQ(cost("adamw_for_each", DType::fp32, {{64, 1024}, {64, 1024}}).later, 3 * 4 * n);
  EXPECT_EQ(cost("adamw_for_each", DType::bf16, {{64, 1024}, {64, 1024}}).later, 3 * 2 * n);
}

TEST(AdamW, FusedNeedsNothingButAStepCountAParameter) {
  const Cost c = cost("adamw_fused");
  EXPECT_EQ(c.state, 8 * all + 2 * 512);
  EXPECT_EQ(c.first, c.state);
  EXPECT_EQ(c.later, 0);
}

TEST(AdamW, EightBitKeepsTwoBytesAnElementAndAScaleABlockOf256) {
  for (const std::string_view name : {"adamw_8bit", "paged_adamw_8bit"}) {
    const Cost c = cost(name, DType::bf16);
    EXPECT_EQ(c.state, 2 * all + 2 * 4 * all / 256 + 2 * 1024) << name;  // And the two maps of 256 values.
    EXPECT_EQ(c.later, 0) << name;
  }
}

TEST(AdamW, TorchaosKeepsCodesScalesAndAMapOfEachTensor) {
  // Codes, a scale for 256 elements, 256 or 16 values of the map; twice.
  EXPECT_EQ(cost("torchao_adamw_8bit", DType::bf16, {{64, 1024}}).state, 2 * (n + n / 64 + 1024));
  EXPECT_EQ(cost("torchao_adamw_4bit", DType::bf16, {{64, 1024}}).state, 2 * (n / 2 + n / 64 + 512));
  EXPECT_EQ(cost("torchao_adamw_8bit", DType::bf16, {{4096 + 128}}).state, 2 * 2 * 4352) << "no whole blocks";
  EXPECT_EQ(cost("torchao_adamw_8bit", DType::fp32, {{2048}}).state, 2 * 4 * 2048);
  EXPECT_EQ(cost("torchao_adamw_8bit", DType::fp32, {{2048}}).later, 0);
}

TEST(AdamW, TorchaosStepUnpacksOneParameterAtATime) {
  EXPECT_EQ(cost("torchao_adamw_8bit", DType::bf16).later, 2 * (n + n / 64));
  EXPECT_EQ(cost("torchao_adamw_4bit", DType::bf16).later, 2 * (n + 4 * n + 8 * n + n / 64));
}

TEST(AdamW, EightBitKeepsSmallTensorsInFp32) {
  EXPECT_EQ(cost("adamw_8bit", DType::bf16, {{4095}}).state, 2 * 16'384);
  EXPECT_EQ(cost("adamw_8bit", DType::bf16, {{4096}}).state, 2 * 4096 + 2 * 512 + 2 * 1024);
}

TEST(AdamW, EightBitKeepsEmbeddingsInFp32WhereAskedTo) {
  const auto state = [](bool fp32_embeddings) {
    Torch t;
    const Parameter p = with_gradient(t, {64, 1024}, DType::bf16, Part::embedding);
    const auto optimizer = make_optimizer("adamw_8bit", fp32_embeddings);
    const Watch watch(t);
    optimizer->step(t, {p});
    return watch.net();
  };
  EXPECT_EQ(state(true), 8 * n);
  EXPECT_EQ(state(false), 2 * n + 2 * 4 * n / 256 + 2 * 1024);
}

TEST(AdamW, Paged32BitKeepsFp32MomentsOfAnyParameter) {
  EXPECT_EQ(cost("paged_adamw_32bit", DType::bf16).state, 8 * all);
  EXPECT_EQ(cost("paged_adamw_32bit", DType::bf16).later, 0);
}

// bitsandbytes' Optimizer8bit.get_state_buffer: not below 100,000 elements, and never the scales.
TEST(AdamW, PagedStateOfLargeTensorsIsManagedMemory) {
  const auto managed = [](std::string_view name, const Dims& sizes) {
    Torch t;
    const Parameter p = with_gradient(t, sizes, DType::bf16);
    const auto optimizer = make_optimizer(name);
    optimizer->step(t, {p});
    std::int64_t out = 0;
    for (const Storage& s : t.recorder.storages) out += s.bucket == Bucket::paged ? s.bytes : 0;
    return out;
  };
  EXPECT_EQ(managed("paged_adamw_8bit", {100'352}), 2 * 100'352);
  EXPECT_EQ(managed("paged_adamw_32bit", {100'352}), 8 * 100'352);
  EXPECT_EQ(managed("paged_adamw_8bit", {99'840}), 0);
  EXPECT_EQ(managed("paged_adamw_32bit", {99'840}), 0);
  EXPECT_EQ(managed("adamw_8bit", {100'352}), 0);
}

TEST(Lion, KeepsOneMomentInFp32OrInAByteAnElement) {
  EXPECT_EQ(cost("lion_32bit", DType::bf16).state, 4 * all);
  EXPECT_EQ(cost("paged_lion_32bit", DType::bf16).state, 4 * all);
  for (const std::string_view name : {"lion_8bit", "paged_lion_8bit"}) {
    EXPECT_EQ(cost(name, DType::bf16).state, all + 4 * all / 256 + 1024) << name;
    EXPECT_EQ(cost(name, DType::bf16, {{4095}}).state, 16'384) << name;
    EXPECT_EQ(cost(name, DType::bf16).later, 0) << name;
  }
}

/// The state that one step makes for a parameter of that part.
std::int64_t state_of(std::string_view name, const Dims& sizes, Part part, std::string path = {}) {
  Torch t;
  Parameter p = with_gradient(t, sizes, DType::bf16, part);
  p.name = std::move(path);
  const auto optimizer = make_optimizer(name);
  const Watch watch(t);
  optimizer->step(t, {p});
  return watch.net();
}

TEST(Muon, KeepsOneMomentOfHiddenMatricesAndTwoOfTheRest) {
  EXPECT_EQ(state_of("muon", {64, 1024}, Part::matrix), 2 * n);
  EXPECT_EQ(state_of("muon", {64, 1024}, Part::adapter), 2 * n);
  EXPECT_EQ(state_of("muon", {64, 1024}, Part::embedding), 4 * n);
  EXPECT_EQ(state_of("muon", {64, 1024}, Part::head), 4 * n);
  EXPECT_EQ(state_of("muon", {1024}, Part::norm), 4 * 1024);
}

TEST(Muon, AxolotlsGoesByNamesAndLeavesVectorsAlone) {
  EXPECT_EQ(state_of("axolotl_muon", {64, 1024}, Part::matrix, "model.layers.*.mlp.up_proj.weight"), 2 * n);
  EXPECT_EQ(state_of("axolotl_muon", {64, 1024}, Part::embedding, "model.embed_tokens.weight"), 4 * n);
  EXPECT_EQ(state_of("axolotl_muon", {64, 1024}, Part::embedding, "transformer.wte.weight"), 2 * n);
  EXPECT_EQ(state_of("axolotl_muon", {1024}, Part::norm, "model.norm.weight"), 0);
  EXPECT_EQ(state_of("axolotl_muon", {1024}, Part::bias, "model.layers.*.self_attn.q_proj.bias"), 0);
}

TEST(Muon, WorksOnTwoMatricesTwoGramMatricesAndTheMomentumOfOneAtATime) {
  const std::int64_t gram = 2 * 64 * 64;
  // The momentum, the iterate before and after, and both squares.
  EXPECT_EQ(cost("muon", DType::bf16, {{64, 1024}}).later, 3 * 2 * n + 2 * gram);
  EXPECT_EQ(cost("muon", DType::fp32, {{64, 1024}}).later, 4 * n + 2 * 2 * n + 2 * gram);
}

TEST(Sgd, KeepsNothingAndWithMomentumOneCopy) {
  EXPECT_EQ(cost("sgd").state, 0);
  EXPECT_EQ(cost("sgd").first, 0);
  EXPECT_EQ(cost("sgd_momentum").state, 4 * all);
  EXPECT_EQ(cost("sgd_momentum").later, 0);
  EXPECT_EQ(cost("sgd_momentum", DType::bf16).state, 2 * all);
}

TEST(Adafactor, KeepsARowAndAColumnOfAMatrixTheWholeOfAVectorAndAScalarOfEach) {
  EXPECT_EQ(cost("adafactor", DType::fp32, {{256, 1024}}).state, 4 * (256 + 1024) + 512);
  EXPECT_EQ(cost("adafactor", DType::bf16, {{256, 1024}}).state, 4 * (256 + 1024) + 512);
  EXPECT_EQ(cost("adafactor", DType::fp32, {{1024}}).state, 4 * 1024 + 512);
}

TEST(Adafactor, WorksOnOneParameterAtATime) {
  const std::int64_t fp32 = 4 * n;
  const std::int64_t vectors = 16 * 1024;  // Rows, columns and scalars.
  const std::int64_t single = cost("adafactor").later;
  EXPECT_GE(single, 2 * fp32);
  EXPECT_LE(single, 2 * fp32 + vectors);
  const std::int64_t half = cost("adafactor", DType::bf16).later;  // And fp32 copies of the gradient and the weight.
  EXPECT_GE(half, 4 * fp32);
  EXPECT_LE(half, 4 * fp32 + vectors);
}

TEST(Optimizer, StateIsABucketOfItsOwnAndBelongsToTheParametersLayer) {
  for (const std::string& name : known_optimizers()) {
    Stepped s(name, {{64, 1024}});
    s.parameters[0].held->layer = 7;
    const std::size_t before = s.torch.recorder.storages.size();
    s.step();
    for (std::size_t i = before; i < s.torch.recorder.storages.size(); ++i) {
      const Storage& state = s.torch.recorder.storages[i];
      if (state.refs == 0) continue;
      EXPECT_EQ(state.bucket, Bucket::optimizer) << name;
      EXPECT_EQ(state.layer, 7) << name;
    }
  }
}

TEST(Optimizer, SkipsWhatHasNoGradient) {
  for (const std::string& name : known_optimizers()) {
    Stepped s(name, two);
    for (const Parameter& p : s.parameters) p.held->grad.reset();
    EXPECT_TRUE(s.step().nothing()) << name;
  }
}

TEST(Optimizer, AnUnknownNameIsNone) {
  EXPECT_EQ(make_optimizer("adamw", false), nullptr);
  EXPECT_EQ(make_optimizer("", false), nullptr);
  EXPECT_THAT(known_optimizers(), Contains("adamw_fused"));
}

TEST(ClipGradients, MakesANormAParameterAndLetsThemGo) {
  Stepped s("sgd", two);
  const Watch watch(s.torch);
  clip_gradients(s.torch, s.parameters);
  EXPECT_EQ(watch.peak(), 2 * 512);
  EXPECT_EQ(watch.net(), 0);
}

}  // namespace
}  // namespace oomplan::estimator
