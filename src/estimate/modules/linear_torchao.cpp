// torchao's NF4Tensor (dtypes/nf4tensor.py in 0.10, quantization/quantize_/workflows/nf4/nf4_tensor.py in 0.18) in a
// linear layer: blocks of 64 elements, and of 256 of their scalers. Python code makes and unpacks it, tensor by tensor.
#include <fmt/format.h>

#include "modules/linear.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t block = 64;
constexpr std::int64_t scaler_block = 256;

/// Every second element by its code of 4 bits, which is shifted or masked out, and made an index first.
struct Half {
  Tensor codes{};
  Tensor values{};
};

Tensor codes_of(Torch& t, std::int64_t bytes) {
  const Tensor codes = t.empty({bytes}, DType::uint8, "aten::bitwise_and");
  return t.empty({bytes}, DType::int64, "aten::_to_copy");
}

/// Multiplied by the scaler of each, which is repeated for that.
Tensor scaled(Torch& t, const Tensor& values) {
  const Tensor repeated = t.empty(values->sizes, values->dtype, "aten::clone");
  return t.mul(values, repeated);
}

/// get_original_weight, whose names hold all that it makes until it returns.
Tensor original_weight(Torch& t, std::int64_t in, std::int64_t out, DType dtype) {
  const std::int64_t elements = saturating_mul(in, out);
  const std::int64_t bytes = elements / 2;
  Half first;
  Half second;
  first.codes = codes_of(t, bytes);
  second.codes = codes_of(t, bytes);
  first.values = t.empty({bytes}, dtype, "aten::index");
  second.values = t.empty({bytes}, dtype, "aten::index");
  Tensor divided = t.empty({elements / block}, dtype, "aten::div");
  const Tensor scalers = t.add_scalar(divided);
  divided.reset();
  const Tensor scaled_first = scaled(t, first.values);
  const Tensor scaled_second = scaled(t, second.values);
  return t.view(t.stack_last(scaled_first, scaled_second), {out, in});
}

}  // namespace

// torchtune's LoRALinear and FrozenNF4Linear: the 16-bit weight of a new Linear becomes an NF4Tensor on the GPU
// (NF4Tensor.from_tensor), into which the checkpoint's is copied.
void Linear::quantize_by_torchao(Builder& builder, const std::string& name) {
  Torch& t = builder.torch;
  const std::int64_t elements = saturating_mul(in_, out_);
  const DType dtype = builder.facts.weights;
  absmax_blocks_ = divided_up(elements, block);
  const Tensor weight = t.empty({out_, in_}, dtype, "aten::empty");
  const auto keep = [&](const Dims& sizes, DType type) { builder.quantized_storage(sizes, type); };
  keep({16}, dtype);
  keep({}, dtype);  // The scalers' mean.
  builder.packed_part({absmax_blocks_}, DType::int8);
  builder.packed_part({absmax_blocks_ / scaler_block}, dtype);  // Which of all are the fewest.
  {
    const Tensor scaled_blocks = t.empty({elements}, dtype, "aten::div");
    const Tensor codes = t.empty({elements}, DType::uint8, "aten::empty");
    const Tensor shifted = t.empty({elements / 2}, DType::uint8, "aten::bitwise_left_shift");
    codes_ = builder.packed_part({elements / 2}, DType::uint8);
  }
  builder.count(elements, false);
  const auto refuse = [&](std::string why) {
    Diagnostic d;
    d.code = "ingest/refused";
    d.message = std::move(why);
    builder.problems.push_back(std::move(d));
  };
  if (elements % (block * scaler_block) != 0) {
    refuse(fmt::format("torchao's NF4 wants weights of a multiple of {} elements, and {} has {}", block * scaler_block,
                       name, elements));
  }
  // nf4_split: codes and factors in as many equal parts.
  const std::int64_t factors = builder.parameters[builder.parameters.size() - 2].held->numel();
  if (builder.parameters.back().held->numel() == saturating_mul(factors, block * scaler_block / 2)) return;
  refuse(fmt::format("torchao's NF4 stops at {}, whose {} elements are no equal blocks of {} for each rank", name,
                     elements, block * scaler_block));
}

Tensor Linear::torchao_weight(Torch& t, DType dtype) const { return original_weight(t, in_, out_, dtype); }

// LinearNF4: the weight is unpacked for forward, and again for backward.
Tensor Linear::torchao_product(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  NodeRef node = t.record("LinearNF4Backward", {&x}, [](Torch& torch, Node& n, Grads& g) {
    torch.unpack(n, 0);  // What was checkpointed is recomputed before the weight is unpacked.
    const Tensor weight = original_weight(torch, n.ints[0], n.ints[1], g.in[0]->dtype);
    g.out[0] = torch.matmul(g.in[0], weight);
  });
  if (node) node->ints = {in_, out_};
  Restore no_grad(t.grad_enabled, false);
  Tensor out = t.linear(x, original_weight(t, in_, out_, x->dtype), {});
  t.save(node, 0, codes_);  // Once forward has returned, where a recomputation that has all it wants stops.
  if (!node) return out;
  Tensor plain = t.detach(out);
  out.reset();
  return t.attach(node, std::move(plain));
}

}  // namespace oomplan::estimator
