// Linear layers with adapters (peft) and 4-bit weights (bitsandbytes): bytes by formula.
#include "modules/linear.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "recording.hpp"

namespace oomplan::estimator {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t in = 256, out = 512, rank = 16;
constexpr std::int64_t rows = 128;

Facts full(DType weights = DType::bf16) {
  Facts f;
  f.weights = weights;
  return f;
}

Facts lora(DType adapter = DType::fp32) {
  Facts f = full();
  f.kind = Adapter::lora;
  f.lora_rank = rank;
  f.lora_targets = {"q_proj"};
  f.adapter = adapter;
  return f;
}

Facts quantized(bool twice) {
  Facts f = lora();
  f.lora_targets.clear();
  f.quantized = true;
  f.double_quantized = twice;
  return f;
}

/// A layer of its own torch, and a forward pass through it.
class Layer {
 public:
  explicit Layer(Facts plan_facts, const std::string& name = "q_proj", bool bias = false,
                 const std::string& prefix = "model.layers.*.self_attn", LinearKind kind = LinearKind::linear)
      : facts(std::move(plan_facts)) {
    builder.prefix = prefix;
    linear = Linear(builder, name, in, out, bias, kind);
  }

  Tensor forward(const Tensor& x) {
    Play play{torch, facts, *policy};
    return linear(play, x);
  }

  /// Bytes that stay for backward, the output aside.
  std::int64_t kept_by(DType dtype) {
    const Tensor x = torch.mul_scalar(leaf(torch, {1, rows, in}, dtype));
    const Watch watch(torch);
    const Tensor y = forward(x);
    EXPECT_EQ(y->sizes, (Dims{1, rows, out}));
    return watch.net() - y->numel() * bytes_of(y->dtype);
  }

  std::int64_t weights() const {
    std::int64_t bytes = 0;
    for (const Storage& s : torch.recorder.storages) bytes += s.bucket == Bucket::weights ? s.bytes : 0;
    return bytes;
  }

  Torch torch{};
  Architecture architecture{};
  Facts facts;
  std::unique_ptr<Policy> policy = make_policy({});
  Builder builder{torch, facts, architecture, *policy};
  Linear linear{};
};

TEST(PlainLinear, HasItsWeightAndItsBias) {
  Layer plain(full());
  EXPECT_EQ(plain.weights(), 2 * in * out);
  EXPECT_EQ(plain.builder.total, in * out);
  EXPECT_EQ(plain.builder.trained, in * out);
  Layer biased(full(), "q_proj", true);
  EXPECT_EQ(biased.builder.total, in * out + out);
  EXPECT_EQ(biased.weights(), 2 * in * out + 2 * out);
}

TEST(PlainLinear, Conv1dIsLaidOutTheOtherWay) {
  Layer conv(full(), "c_attn", true, "transformer.h.*.attn", LinearKind::conv1d);
  EXPECT_EQ(conv.builder.parameters[0].sizes, (Dims{in, out}));
  const Tensor x = leaf(conv.torch, {2, 64, in}, DType::bf16);
  EXPECT_EQ(conv.forward(x)->sizes, (Dims{2, 64, out}));
}

TEST(Lora, AddsRankTimesBothWidthsAndFreezesTheRest) {
  Layer layer(lora());
  EXPECT_EQ(layer.builder.total, in * out + rank * (in + out));
  EXPECT_EQ(layer.builder.trained, rank * (in + out));
  EXPECT_EQ(layer.weights(), 2 * in * out + 4 * rank * (in + out));
  Layer low(lora(DType::bf16));
  EXPECT_EQ(low.weights(), 2 * in * out + 2 * rank * (in + out));
}

TEST(Lora, ATargetIsTheEndOfAPathTheWholePathOrAll) {
  const auto adapted = [](const std::string& target, const std::string& name = "q_proj") {
    Facts f = lora();
    f.lora_targets = {target};
    return Layer(f, name).builder.trained > 0;
  };
  EXPECT_TRUE(adapted("q_proj"));
  EXPECT_TRUE(adapted("self_attn.q_proj"));
  EXPECT_TRUE(adapted("model.layers.*.self_attn.q_proj"));
  EXPECT_TRUE(adapted("all-linear"));
  EXPECT_FALSE(adapted("k_proj"));
  EXPECT_FALSE(adapted("proj"));
  EXPECT_FALSE(adapted("q_proj", "seq_proj"));
  EXPECT_FALSE(adapted(""));
}

TEST(Lora, TheHeadIsAdaptedByItsNameOnly) {
  const auto adapted = [](const std::string& target) {
    Layer layer(lora());
    layer.builder.facts.lora_targets = {target};
    layer.builder.trained = 0;
    layer.builder.prefix.clear();
    Linear::head(layer.builder, "lm_head", in, out, false, {});
    return layer.builder.trained > 0;
  };
  EXPECT_TRUE(adapted("lm_head"));
  EXPECT_FALSE(adapted("all-linear"));
}

TEST(Lora, ATiedHeadAddsNoWeight) {
  Layer layer(full());
  const std::int64_t before = layer.builder.total;
  const Tensor embedding = leaf(layer.torch, {out, in}, DType::bf16);
  Linear::head(layer.builder, "lm_head", in, out, false, embedding);
  EXPECT_EQ(layer.builder.total, before);
}

// bitsandbytes' functional.quantize_4bit: a scale for 64 weights, and with compress_statistics 8 bits of each scale and
// one more scale for 256 of them. Large enough that no size hides in the allocator's 512 bytes.
TEST(Quantized, HasAScaleFor64WeightsAndOneFor256Scales) {
  constexpr std::int64_t n = 4096, m = 8192, scales = n * m / 64;
  const auto sizes = [&](bool twice) {
    Layer small(quantized(twice));
    const std::size_t before = small.torch.recorder.storages.size();
    Linear large(small.builder, "up_proj", n, m, false, LinearKind::linear);
    std::vector<std::int64_t> found;
    for (std::size_t i = before; i < small.torch.recorder.storages.size(); ++i)
      if (small.torch.recorder.storages[i].bucket == Bucket::weights)
        found.push_back(small.torch.recorder.storages[i].bytes);
    std::ranges::sort(found);
    return found;
  };
  EXPECT_THAT(sizes(false), ElementsAre(512, scales * 4, n * m / 2));
  EXPECT_THAT(sizes(true), ElementsAre(512, 512, 1024, scales / 256 * 4, scales, n * m / 2));
}

// Per row, for an input of width n: bytes that an adapted frozen layer keeps.
TEST(Lora, Fp32AdaptersKeepAnFp32CopyOfTheInput) {
  EXPECT_EQ(Layer(lora()).kept_by(DType::bf16), rows * (4 * in + 4 * rank));
}

TEST(Lora, AdaptersOfTheInputsTypeKeepTheInputItself) {
  EXPECT_EQ(Layer(lora(DType::bf16)).kept_by(DType::bf16), rows * 2 * rank);
}

TEST(Lora, DropoutKeepsItsOutputAndAMaskOfAByte) {
  Facts f = lora();
  f.lora_dropout = 0.05;
  EXPECT_EQ(Layer(f).kept_by(DType::bf16), rows * (4 * in + in + 4 * rank));
}

TEST(Lora, AFrozenLayerWithoutAdapterKeepsNothing) {
  Facts f = lora();
  f.lora_targets = {"v_proj"};
  EXPECT_EQ(Layer(f).kept_by(DType::bf16), 0);
}

TEST(Lora, TheResultIsOfTheBaseLayersType) {
  Layer layer(lora());
  const Tensor x = leaf(layer.torch, {1, rows, in}, DType::bf16);
  EXPECT_EQ(layer.forward(x)->dtype, DType::bf16);
}

TEST(FourBit, HalfAByteAnElementAndAScaleABlockOf64) {
  const std::int64_t blocks = in * out / 64;
  // The scales in bytes, their own scales a block of 256, and three small tables: 16 codes, 256 codes, an offset.
  EXPECT_EQ(Layer(quantized(true)).weights(), in * out / 2 + blocks + 4 * blocks / 256 + 480 + 512 + 1024 + 512);
  EXPECT_EQ(Layer(quantized(false)).weights(), in * out / 2 + 4 * blocks + 512);
}

TEST(FourBit, ItsAdaptersHaveATypeOfTheirOwn) {
  Facts f = quantized(false);
  f.lora_targets = {"q_proj"};
  f.adapter = DType::fp32;
  f.quantized_adapter = DType::bf16;
  const std::int64_t base = Layer(quantized(false)).weights();
  EXPECT_EQ(Layer(f).weights() - base, 2 * rank * (in + out));
}

TEST(FourBit, CountsItsElementsAndTrainsNone) {
  Layer layer(quantized(true), "q_proj", true);
  EXPECT_EQ(layer.builder.total, in * out + out);
  EXPECT_EQ(layer.builder.trained, 0);
}

// transformers/integrations/bitsandbytes.py: replace_with_bnb_linear.
TEST(FourBit, TransformersQuantizesAConv1dToo) {
  Layer conv(quantized(true), "c_attn", false, "transformer.h.*.attn", LinearKind::conv1d);
  EXPECT_EQ(conv.weights(), Layer(quantized(true)).weights());
  Facts other = quantized(true);
  other.bitsandbytes = false;
  EXPECT_EQ(Layer(other, "c_attn", false, "transformer.h.*.attn", LinearKind::conv1d).weights(), 2 * in * out);
}

TEST(FourBit, LoadingHoldsThe16BitWeightAndOfAConv1dATurnedCopy) {
  const auto passing = [](LinearKind kind) {
    const Layer layer(quantized(false), "c_attn", false, "transformer.h.*.attn", kind);
    std::int64_t bytes = 0;
    std::int64_t left = 0;
    for (const Storage& s : layer.torch.recorder.storages) bytes += s.bucket == Bucket::temporaries ? s.bytes : 0;
    for (const Event& e : layer.torch.recorder.events) left += e.allocates ? 1 : -1;
    EXPECT_EQ(left, 3);  // The four bits, their scales and the table of values.
    return bytes;
  };
  EXPECT_EQ(passing(LinearKind::linear), 2 * in * out);
  EXPECT_EQ(passing(LinearKind::conv1d), 2 * 2 * in * out);
}

TEST(FourBit, TheWeightIsDequantizedInBackwardToo) {
  Layer layer(quantized(false));
  const Tensor x = leaf(layer.torch, {1, rows, in}, DType::bf16);
  const Watch forward(layer.torch);
  const Tensor y = layer.forward(x);
  EXPECT_THAT(forward.made(), ElementsAre("bitsandbytes::dequantize_4bit", "aten::mm"));
  EXPECT_EQ(forward.net(), 2 * rows * out);  // Nothing kept: a quantised layer's backward needs its weight alone.
  const Watch backward(layer.torch);
  layer.torch.backward(y);
  EXPECT_THAT(backward.made(), ElementsAre("aten::ones_like", "bitsandbytes::dequantize_4bit", "aten::mm"));
  EXPECT_EQ(backward.sizes()[1], 2 * in * out);
}

TEST(FourBit, DoubleQuantizationDequantizesTheScalesFirst) {
  Layer layer(quantized(true));
  const Tensor x = leaf(layer.torch, {1, rows, in}, DType::bf16);
  const Watch watch(layer.torch);
  layer.forward(x);
  EXPECT_THAT(watch.made(),
              ElementsAre("bitsandbytes::dequantize_blockwise", "bitsandbytes::dequantize_4bit", "aten::mm"));
  EXPECT_EQ(watch.sizes()[0], 4 * in * out / 64);
}

TEST(FourBit, AnFp32InputIsCastToTheComputeTypeAndTheResultBack) {
  Layer layer(quantized(false));
  const Tensor x = leaf(layer.torch, {1, rows, in}, DType::fp32);
  const Watch watch(layer.torch);
  EXPECT_EQ(layer.forward(x)->dtype, DType::fp32);
  EXPECT_THAT(watch.made(),
              ElementsAre("aten::_to_copy", "bitsandbytes::dequantize_4bit", "aten::mm", "aten::_to_copy"));
}

std::vector<std::string> forward_ops(Facts facts, bool bias) {
  facts.lora_targets = {"q_proj"};
  facts.quantized_adapter = DType::bf16;
  Layer layer(facts, "q_proj", bias);
  const Tensor x = leaf(layer.torch, {1, rows, in}, DType::bf16);
  const Watch watch(layer.torch);
  layer.forward(x);
  return watch.made();
}

TEST(FourBit, PeftClonesWhatBitsandbytesReturnsBeforeItAddsTheUpdate) {
  EXPECT_THAT(forward_ops(quantized(false), true),
              ElementsAre("bitsandbytes::dequantize_4bit", "aten::addmm", "aten::clone", "aten::mm", "aten::mm",
                          "aten::mul", "aten::add"));
}

TEST(FourBit, AnotherSubclassOfLinearAddsItsBiasItselfAndGetsPeftsCommonForward) {
  Facts facts = quantized(false);
  facts.bitsandbytes = false;
  EXPECT_THAT(forward_ops(facts, true), ElementsAre("bitsandbytes::dequantize_4bit", "aten::mm", "aten::add",
                                                    "aten::mm", "aten::mm", "aten::mul", "aten::add"));
}

}  // namespace
}  // namespace oomplan::estimator
