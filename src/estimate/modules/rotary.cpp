#include "modules/rotary.hpp"

#include <array>

namespace oomplan::estimator {
namespace {

Tensor rotate_half(Torch& t, const Tensor& x) {
  const std::int64_t half = x->sizes.back() / 2;
  const Tensor x1 = t.slice(x, 3, 0, half);
  const Tensor x2 = t.slice(x, 3, half, x->sizes.back() - half);
  return t.cat({t.neg(x2), x1}, 3);
}

/// torch.stack((-x2, x1), dim=-1).flatten(-2) of every other element.
Tensor rotate_pairs(Torch& t, const Tensor& x) {
  const Tensor x1 = t.every_other(x);
  const Tensor x2 = t.every_other(x);
  Dims sizes = x->sizes;
  return t.view(t.stack_last(t.neg(x2), x1), sizes);
}

/// (x * cos) + (rotate_half(x) * sin); Python lets go of each intermediate as soon as the next is made.
Tensor turned(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin, bool pairs) {
  const Tensor straight = t.mul(x, cos);
  Tensor half = pairs ? rotate_pairs(t, x) : rotate_half(t, x);
  half = t.mul(half, sin);
  return t.add(straight, half);
}

struct Parts {
  Tensor turning{};
  Tensor passing{};
};

/// x[..., :width] and x[..., width:]
Parts parts_of(Torch& t, const Tensor& x, std::int64_t width) {
  const std::int64_t all = x->sizes.back();
  return {width == all ? t.view(x, x->sizes) : t.slice(x, 3, 0, width), t.slice(x, 3, width, all - width)};
}

/// torch.cat([turned, x_pass], dim=-1)
Tensor joined(Torch& t, const Tensor& turned_part, const Parts& parts) {
  return t.cat({turned_part, parts.passing}, 3);
}

void rotate_parts(Torch& t, Rotary style, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  const bool pairs = style == Rotary::sliced_pairs || style == Rotary::sliced_given;
  const Parts of_q = parts_of(t, q, cos->sizes.back());
  const Parts of_k = parts_of(t, k, cos->sizes.back());
  Tensor q_turned = turned(t, of_q.turning, cos, sin, pairs);
  if (style == Rotary::sliced_each) q_turned = joined(t, q_turned, of_q);
  Tensor k_turned = turned(t, of_k.turning, cos, sin, pairs);
  if (style != Rotary::sliced_each) q_turned = joined(t, q_turned, of_q);
  k_turned = joined(t, k_turned, of_k);
  q = std::move(q_turned);
  k = std::move(k_turned);
}

/// cos[..., : width // 2].repeat_interleave(2, dim=-1)
Tensor in_pairs(Torch& t, const Tensor& cos) { return t.empty(cos->sizes, cos->dtype, "aten::clone"); }

void rotate_whole(Torch& t, bool pairs, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  Tensor q_turned = turned(t, q, cos, sin, pairs);
  Tensor k_turned = turned(t, k, cos, sin, pairs);
  q = std::move(q_turned);
  k = std::move(k_turned);
}

/// cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1) of every other element.
Tensor interleaved(Torch& t, const Tensor& x1, const Tensor& x2, const Tensor& cos, const Tensor& sin) {
  const auto product = [&](const Tensor& x, const Tensor& by) { return t.mul(x, by); };
  const auto difference = [&] {
    const Tensor straight = product(x1, cos);
    const Tensor crossed = product(x2, sin);
    return t.sub(straight, crossed);
  };
  const auto sum = [&] {
    const Tensor straight = product(x2, cos);
    const Tensor crossed = product(x1, sin);
    return t.add(straight, crossed);
  };
  const Tensor first = difference();
  const Tensor second = sum();
  return t.cat({first, second}, 3);
}

void rotate_interleaved(Torch& t, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  const std::int64_t half = cos->sizes.back() / 2;
  const Tensor c = t.slice(cos, 3, 0, half);
  const Tensor s = t.slice(sin, 3, 0, half);
  const Tensor q1 = t.every_other(q);
  const Tensor q2 = t.every_other(q);
  const Tensor k1 = t.every_other(k);
  const Tensor k2 = t.every_other(k);
  Tensor q_turned = interleaved(t, q1, q2, c, s);
  Tensor k_turned = interleaved(t, k1, k2, c, s);
  q = std::move(q_turned);
  k = std::move(k_turned);
}

/// cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1) of halves, with cos and sin as wide as one.
void rotate_split(Torch& t, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  const std::int64_t half = cos->sizes.back();
  const auto turned_of = [&](const Tensor& x) {
    return interleaved(t, t.slice(x, 3, 0, half), t.slice(x, 3, half, half), cos, sin);
  };
  Tensor q_turned = turned_of(q);
  Tensor k_turned = turned_of(k);
  q = std::move(q_turned);
  k = std::move(k_turned);
}

/// view_as_real and view_as_complex want a contiguous gradient.
Tensor contiguous_gradient(Torch& t, const Tensor& x) {
  NodeRef node = t.record("ViewAsComplexBackward0", {&x},
                          [](Torch& torch, Node&, Grads& g) { g.out[0] = torch.contiguous(g.in[0]); });
  return t.attach(node, t.view_as(x, x->sizes, x->strides));
}

/// view_as_real(view_as_complex(x.float()) * freqs): a complex number is counted as two of fp32.
void rotate_complex(Torch& t, Tensor& q, Tensor& k, const Tensor& freqs) {
  const DType dtype = q->dtype;
  const Tensor numbers_of_q = contiguous_gradient(t, t.to(q, DType::fp32));
  const Tensor numbers_of_k = contiguous_gradient(t, t.to(k, DType::fp32));
  q = t.to(contiguous_gradient(t, t.mul(numbers_of_q, freqs)), dtype);
  k = t.to(contiguous_gradient(t, t.mul(numbers_of_k, freqs)), dtype);
}

/// (x.float() * cos) + (rotate_half(x).float() * sin), or rotate_half(x.float()) where halves are turned.
Tensor turned_raised(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin, bool pairs) {
  const Tensor straight = t.mul(t.to(x, DType::fp32), cos);
  Tensor half = pairs ? t.to(rotate_pairs(t, x), DType::fp32) : rotate_half(t, t.to(x, DType::fp32));
  half = t.mul(half, sin);
  return t.add(straight, half);
}

void rotate_raised(Torch& t, bool pairs, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  const DType dtype = q->dtype;
  const Tensor q_turned = turned_raised(t, q, cos, sin, pairs);
  const Tensor k_turned = turned_raised(t, k, cos, sin, pairs);
  Tensor q_out = t.to(q_turned, dtype);
  Tensor k_out = t.to(k_turned, dtype);
  q = std::move(q_out);
  k = std::move(k_out);
}

/// In fp32; what comes of it in the dtype that q and k have.
void rotate_in_fp32(Torch& t, bool pairs, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  const DType dtype = q->dtype;
  const Tensor query = pairs ? t.to(q, DType::fp32) : q;
  const Tensor key = pairs ? t.to(k, DType::fp32) : k;
  const Tensor q_turned = turned(t, query, cos, sin, pairs);
  const Tensor k_turned = turned(t, key, cos, sin, pairs);
  Tensor q_out = t.to(q_turned, dtype);
  Tensor k_out = t.to(k_turned, dtype);
  q = std::move(q_out);
  k = std::move(k_out);
}

}  // namespace

Tensor scaled_by_position(Torch& t, const Tensor& q) {
  const Tensor scale = t.empty({1, 1, q->sizes[2], 1}, DType::fp32, "aten::add");
  return t.mul(q, t.to(scale, q->dtype));
}

Rotary rotary_style(const Attributes& attributes, std::string_view name) {
  constexpr std::array<std::string_view, 14> names{
      "halves",      "back_again",   "pairs",        "repeated_pairs", "raised_pairs", "raised_halves", "sliced",
      "sliced_each", "sliced_pairs", "sliced_given", "interleaved",    "split",        "complex",       "none"};
  return static_cast<Rotary>(attributes.choice(name, names));
}

Tensor turned_by_pairs(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin) {
  return turned(t, x, cos, sin, true);
}

void rotate(Torch& t, Rotary style, Tensor& q, Tensor& k, const Tensor& cos_of, const Tensor& sin_of) {
  if (style == Rotary::none) return;
  if (style == Rotary::complex) return rotate_complex(t, q, k, t.unsqueeze(cos_of, 1));
  Tensor cos = t.unsqueeze(cos_of, 1);
  Tensor sin = t.unsqueeze(sin_of, 1);
  const bool repeated_pairs = style == Rotary::repeated_pairs;
  if (repeated_pairs || style == Rotary::sliced_pairs || style == Rotary::raised_pairs) {
    cos = in_pairs(t, cos);
    sin = in_pairs(t, sin);
  }
  const bool raised_pairs = style == Rotary::raised_pairs;
  if (raised_pairs || style == Rotary::raised_halves) return rotate_raised(t, raised_pairs, q, k, cos, sin);
  if (repeated_pairs || style == Rotary::halves) return rotate_whole(t, repeated_pairs, q, k, cos, sin);
  if (style == Rotary::interleaved) return rotate_interleaved(t, q, k, cos, sin);
  if (style == Rotary::split) return rotate_split(t, q, k, cos, sin);
  const bool in_fp32 = style == Rotary::back_again || style == Rotary::pairs;
  in_fp32 ? rotate_in_fp32(t, style == Rotary::pairs, q, k, cos, sin) : rotate_parts(t, style, q, k, cos, sin);
}

Tensor rotary_angles(Torch& t, const Dims& sizes) {
  const Tensor positions = t.empty({sizes[0], sizes[1], 1}, DType::fp32, "aten::_to_copy");
  return t.empty(sizes, DType::fp32, "aten::mul");
}

Turns turns_of(Torch& t, const Tensor& angles, bool halved, DType dtype) {
  // Or the angles repeated, as Cohere: one tensor of the same size.
  const Tensor emb = halved ? angles : t.cat({angles, angles}, 2);
  const Tensor cos = t.mul_scalar(t.pointwise({&emb}, DType::fp32, "aten::cos"));
  const Tensor sin = t.mul_scalar(t.pointwise({&emb}, DType::fp32, "aten::sin"));
  Tensor lowered_cos = t.to(cos, dtype);
  return {std::move(lowered_cos), t.to(sin, dtype)};
}

}  // namespace oomplan::estimator
