// peft/tuners/oft/layer.py: what goes into a layer is turned, each block of it by an orthogonal matrix of its own.
#include <array>
#include <utility>

#include "modules/linear_adapter.hpp"
#include "torch/einsum.hpp"

namespace oomplan::estimator {
namespace {

struct Blocks {
  std::int64_t count = 0;
  std::int64_t width = 0;
};

/// matrix[:, rows, cols] = vec, of zeros.
Tensor upper_triangles(Torch& t, const Tensor& vec, const Blocks& blocks) {
  const Tensor zeros = t.zeros({blocks.count, blocks.width, blocks.width}, vec->dtype);
  NodeRef node = t.record("IndexPutBackward0", {&vec}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::index");
  });
  if (node) node->dims = vec->sizes;
  return t.attach(node, zeros);
}

/// x.add_(y, alpha=2)
Tensor add_twice_(Torch& t, const Tensor& x, const Tensor& y) {
  NodeRef node = t.record("AddBackward0", {&x, &y}, [](Torch& torch, Node& n, Grads& g) {
    if (n.needs(1)) g.out[1] = torch.mul_scalar(g.in[0]);
    if (n.needs(0)) g.out[0] = g.in[0];
  });
  return t.attach(node, x);
}

/// OFTRotationModule._cayley_batch, by Neumann's series of five terms.
Tensor rotations(Torch& t, const Tensor& weight, const Blocks& blocks) {
  Tensor skew = upper_triangles(t, weight, blocks);
  skew = t.sub(skew, t.transpose(skew, 1, 2));
  Tensor out;
  {
    const Tensor eye = t.empty({blocks.width, blocks.width}, weight->dtype, "aten::eye");
    out = t.empty({blocks.count, blocks.width, blocks.width}, weight->dtype, "aten::repeat");
  }
  out = add_twice_(t, out, skew);
  const Tensor squared = t.bmm(skew, skew);
  out = add_twice_(t, out, squared);
  Tensor power = t.bmm(squared, skew);
  out = add_twice_(t, out, power);
  power = t.bmm(power, skew);
  out = t.add_(out, power);
  return out;
}

class Oft final : public LinearAdapter {
 public:
  Oft(Tensor weight, Blocks blocks, const std::array<Tensor, 2>& places)
      : weight_(std::move(weight)), blocks_(blocks), places_(places) {}

  Tensor operator()(Play& play, const Tensor& x, const Base& base) const override {
    Torch& t = play.torch;
    const DType dtype = x->dtype;
    Tensor turned = turn(t, t.to(x, weight_->dtype));
    const Tensor input = t.to(turned, dtype);
    return t.to(base(input), dtype);
  }

 private:
  Tensor turn(Torch& t, const Tensor& x) const {
    const Tensor rotation = rotations(t, weight_, blocks_);
    const Tensor parts = t.reshape(x, {x->sizes[0], x->sizes[1], blocks_.count, blocks_.width});
    const Tensor turned = einsum(t, parts, "btrk", rotation, "rkc", "btrc");
    const Tensor out = t.reshape(turned, x->sizes);
    return t.to(out, weight_->dtype);
  }

  Tensor weight_;
  Blocks blocks_;
  std::array<Tensor, 2> places_;  ///< Of a block's upper triangle: buffers.
};

/// OFTLayer.adjust_oft_parameters: the divisor of `in` that is next to `asked`.
std::int64_t next_divisor(std::int64_t in, std::int64_t asked) {
  if (asked >= in) return in;
  std::int64_t higher = asked;
  while (in % higher != 0) ++higher;
  std::int64_t lower = asked;
  while (in % lower != 0) --lower;
  return asked - lower <= higher - asked ? lower : higher;
}

Blocks blocks_of(const Facts& facts, std::int64_t in) {
  if (facts.block > 0) {
    const std::int64_t width = next_divisor(in, facts.block);
    return {in / width, width};
  }
  const std::int64_t count = next_divisor(in, facts.lora_rank);
  return {count, in / count};
}

}  // namespace

LinearAdapterPtr adapters::oft(Builder& builder, const AdaptedLinear& layer) {
  const Blocks blocks = blocks_of(builder.facts, layer.in);
  const std::int64_t elements = saturating_mul(blocks.width, blocks.width - 1) / 2;
  const Tensor weight = builder.adapter_weight(layer.name + ".oft_R", {blocks.count, elements}, layer.dtype);
  const Tensor rows = builder.while_adapting({elements}, DType::int64, "buffer");
  const Tensor columns = builder.while_adapting({elements}, DType::int64, "buffer");
  return std::make_shared<const Oft>(weight, blocks, std::array{rows, columns});
}

}  // namespace oomplan::estimator
