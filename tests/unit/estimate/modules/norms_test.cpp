#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/rms_norm.hpp"
#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t rows = 128, width = 256;

class Norm : public ::testing::Test {
 protected:
  Facts facts_of(DType dtype) {
    Facts f;
    f.weights = dtype;
    return f;
  }

  Torch torch{};
  Architecture architecture{};
  Facts facts = facts_of(DType::bf16);
  std::unique_ptr<Policy> policy = make_policy({});
  Builder builder{torch, facts, architecture, *policy};
  Play play{torch, facts, *policy};
};

TEST_F(Norm, RmsNormKeepsAnFp32CopyItsScaleAndTheNormalisedRows) {
  const RmsNorm norm(builder, "norm", width);
  const Tensor x = torch.mul_scalar(leaf(torch, {rows, width}, DType::bf16));
  const Watch watch(torch);
  const Tensor y = norm(play, x);
  EXPECT_EQ(y->dtype, DType::bf16);
  // 8 bytes an element, its output included, and 4 a row.
  EXPECT_EQ(watch.net(), rows * (8 * width + 4));
}

TEST_F(Norm, AFrozenRmsNormKeepsNoNormalisedRows) {
  builder.facts.kind = Adapter::lora;
  const RmsNorm norm(builder, "norm", width);
  const Tensor x = torch.mul_scalar(leaf(torch, {rows, width}, DType::bf16));
  const Watch watch(torch);
  const Tensor y = norm(play, x);
  EXPECT_EQ(watch.net(), rows * (6 * width + 4));
}

TEST_F(Norm, RmsNormMakesNineTensors) {
  const RmsNorm norm(builder, "norm", width);
  const Tensor x = leaf(torch, {rows, width}, DType::bf16);
  const Watch watch(torch);
  norm(play, x);
  EXPECT_THAT(watch.made(), ElementsAre("aten::_to_copy", "aten::pow", "aten::mean", "aten::add", "aten::rsqrt",
                                        "aten::mul", "aten::_to_copy", "aten::mul"));
}

TEST_F(Norm, LayerNormKeepsTwoStatisticsARow) {
  const LayerNorm norm(builder, "norm", width);
  const Tensor x = torch.mul_scalar(leaf(torch, {rows, width}, DType::bf16));
  const Watch watch(torch);
  const Tensor y = norm(play, x);
  EXPECT_EQ(watch.net(), rows * (2 * width + 8));
}

TEST_F(Norm, TheGeluOfGpt2KeepsFiveTensors) {
  const Activation gelu = find_activation("gelu_new", builder);
  const Tensor x = torch.mul_scalar(leaf(torch, {rows, width}, DType::bf16));
  const Watch watch(torch);
  const Tensor y = gelu(torch, x);
  // Its input is kept, and of its own: 0.5·x, the tanh and 1 + tanh; the product is the output.
  EXPECT_EQ(watch.net(), 4 * rows * width * 2);
}

TEST_F(Norm, AFusedActivationMakesOneTensor) {
  for (const char* name : {"silu", "swish", "gelu", "gelu_pytorch_tanh", "relu", "tanh", "sigmoid"}) {
    const Activation function = find_activation(name, builder);
    const Tensor x = leaf(torch, {rows, width}, DType::bf16);
    const Watch watch(torch);
    function(torch, x);
    EXPECT_EQ(watch.made().size(), 1U) << name;
  }
  EXPECT_TRUE(builder.problems.empty());
}

TEST_F(Norm, AnUnknownActivationIsAProblem) {
  find_activation("mish", builder);
  ASSERT_EQ(builder.problems.size(), 1U);
  EXPECT_EQ(builder.problems[0].message, "activation function \"mish\" is not modelled");
}

}  // namespace
}  // namespace oomplan::estimator
