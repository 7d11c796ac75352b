#include "modules/four_bits.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t block = 64;          // bitsandbytes functional.quantize_4bit's blocksize.
constexpr std::int64_t nested_block = 256;  // Of the absmax, when it is quantised itself.

}  // namespace

std::int64_t four_bit_blocks(std::int64_t elements) { return divided_up(elements, block); }

void quantize_four_bits(Torch& t, std::int64_t elements, bool nested,
                        const std::function<void(const Dims& sizes, DType dtype)>& keep,
                        const std::function<void(std::int64_t bytes)>& pack) {
  const std::int64_t blocks = four_bit_blocks(elements);
  const Tensor absmax = nested ? t.empty({blocks}, DType::fp32, "bitsandbytes::quantize_4bit") : Tensor();
  if (!nested) keep({blocks}, DType::fp32);
  pack(divided_up(elements, 2));
  keep({16}, DType::fp32);
  if (!nested) return;
  keep({}, DType::fp32);  // Their mean.
  const Tensor centred = t.empty({blocks}, DType::fp32, "aten::sub");
  keep({blocks}, DType::uint8);
  keep({divided_up(blocks, nested_block)}, DType::fp32);
  keep({256}, DType::fp32);
}

std::int64_t store_four_bits(Builder& builder, std::int64_t elements) {
  quantize_four_bits(
      builder.torch, elements, builder.facts.double_quantized,
      [&](const Dims& sizes, DType dtype) { builder.quantized_storage(sizes, dtype); },
      [&](std::int64_t bytes) { builder.packed_weight(bytes); });
  return four_bit_blocks(elements);
}

Tensor dequantized(Torch& t, const Dims& sizes, std::int64_t blocks, bool nested, DType compute) {
  const Tensor absmax = nested ? t.empty({blocks}, DType::fp32, "bitsandbytes::dequantize_blockwise") : Tensor();
  return t.empty(sizes, compute, "bitsandbytes::dequantize_4bit");
}

InProduct dequantized_in_product(Torch& t, const Dims& sizes, std::int64_t blocks, bool nested, DType dtype) {
  InProduct out;
  if (nested) {
    out.scales = t.empty({blocks}, DType::fp32, "bitsandbytes::dequantize_blockwise");
    out.shifted = t.empty({blocks}, DType::fp32, "aten::add");
  }
  out.weight = t.empty(sizes, dtype, "bitsandbytes::dequantize_4bit");
  return out;
}

}  // namespace oomplan::estimator
