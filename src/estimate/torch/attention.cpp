// scaled_dot_product_attention on CUDA: aten/src/ATen/native/transformers/attention.cpp and cuda/sdp_utils.cpp
// (without the cuDNN kernel). Flash where it can, memory-efficient else, math last. Below compute capability 8.0 flash
// has no kernel, and the memory-efficient one none for bf16 (check_sm_version, less_than_sm80_mem_efficient_dtypes).
#include <algorithm>

#include "torch/flash.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

Tensor like(Torch& t, const Tensor& x, const char* op) { return t.empty_strided(x->sizes, x->strides, x->dtype, op); }

/// convert_boolean_attn_mask: 0 where the mask is true, minus infinity elsewhere.
Tensor additive(Torch& t, const Tensor& mask, DType dtype) {
  const Tensor minus_infinity = t.empty({}, dtype, "aten::scalar_tensor");
  const Tensor zero = t.empty({}, dtype, "aten::scalar_tensor");
  return t.pointwise({&mask}, dtype, "aten::where");
}

void flash_backward(Torch& t, Node& n, Grads& g) {
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const Tensor out = t.unpack(n, 3);
  const Tensor lse = t.unpack(n, 4);
  const Tensor seed = t.unpack(n, 5);
  const Tensor unused = t.unpack(n, 6);
  std::array<Tensor, 3> gradients = flash_gradients(t, q, k, v);
  std::move(gradients.begin(), gradients.end(), g.out.begin());
}

void efficient_backward(Torch& t, Node& n, Grads& g) {
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const Tensor mask = t.unpack(n, 3);
  const Tensor out = t.unpack(n, 4);
  const Tensor lse = t.unpack(n, 5);
  const Tensor seed = t.unpack(n, 6);
  const Tensor offset = t.unpack(n, 7);
  const char* op = "aten::_scaled_dot_product_efficient_attention_backward";
  const std::int64_t b = q->sizes[0];
  const std::int64_t heads = q->sizes[1];
  const std::int64_t s = q->sizes[2];
  g.out[0] = kernel_output(t, q, q->sizes[3], op);
  g.out[1] = kernel_output(t, k, k->sizes[3], op);
  g.out[2] = kernel_output(t, v, v->sizes[3], op);
  const Tensor delta = t.empty({b, heads, s}, DType::fp32, op);
  if (n.needs(3)) {
    const std::int64_t length = mask->sizes.back();
    g.out[3] = t.slice(t.empty({b, heads, s, up_to(length, 16)}, mask->dtype, op), 3, 0, length);
  }
  if (bytes_of(q->dtype) == 2) {
    const Tensor accumulated = t.empty({b, heads, up_to(s, 64), up_to(q->sizes[3], 64)}, DType::fp32, op);
  }
}

}  // namespace

Tensor kernel_output(Torch& t, const Tensor& q, std::int64_t width, const char* op) {
  const Tensor rows = t.transpose(q, 1, 2);
  Dims sizes = rows->sizes;
  sizes[3] = width;
  const Tensor out = t.pointwise({&rows}, q->dtype, op);
  return t.alias(out, {sizes[0], sizes[2], sizes[1], sizes[3]},
                 {out->strides[0], out->strides[2], out->strides[1], out->strides[3]});
}

std::array<Tensor, 3> flash_gradients(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v) {
  const char* op = "aten::_scaled_dot_product_flash_attention_backward";
  const std::int64_t b = q->sizes[0];
  const std::int64_t heads = q->sizes[1];
  const std::int64_t s = q->sizes[2];
  const std::int64_t d = q->sizes[3];
  std::array<Tensor, 3> out{like(t, q, op), like(t, k, op), like(t, v, op)};
  const std::int64_t padded = up_to(s, 128);
  const Tensor softmax_d = t.empty({b, heads, padded}, DType::fp32, op);
  const Tensor dq_sum = t.empty({b, padded, heads, flash_head(d)}, DType::fp32, op);
  if (heads == k->sizes[1]) return out;
  const Tensor dk_all = t.empty({b, k->sizes[2], heads, d}, q->dtype, op);
  const Tensor dv_all = t.empty({b, k->sizes[2], heads, d}, q->dtype, op);
  return out;
}

void Torch::use_kernel(const char* name, const char* newer) {
  if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.emplace_back(name);
  if (*newer_kernel == 0) newer_kernel = newer;
}

Tensor Torch::attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias, double p,
                        bool causal, bool gqa) {
  const Tensor q = lowered(query);
  const Tensor k = lowered(key);
  const Tensor v = lowered(value);
  Tensor mask = lowered(bias);
  Restore lowered_already(autocast_, std::optional<DType>{});
  const std::int64_t d = q->sizes[3];
  const bool half = bytes_of(q->dtype) == 2;
  const bool same_heads = q->sizes[1] == k->sizes[1] && q->sizes[1] == v->sizes[1];
  const bool same_width = d == k->sizes[3] && d == v->sizes[3];
  if (mask && mask->dtype == DType::boolean) mask = additive(*this, mask, q->dtype);
  // check_last_dim_stride_equals_1_dense, of the mask too.
  const bool rows = q->strides[3] == 1 && k->strides[3] == 1 && v->strides[3] == 1 && (!mask || mask->strides[3] == 1);
  if (!older_gpu && !mask && half && same_width && d <= 256 && rows && (same_heads || gqa) &&
      !(causal && q->sizes[2] != k->sizes[2])) {
    return ring.ranks > 1 ? ring_flash(q, k, v) : flash(q, k, v, p, causal);
  }
  const std::int64_t step = half ? 8 : 4;
  const bool in_bf16 = q->dtype == DType::bf16;
  if (!(older_gpu && in_bf16) && same_heads && d == k->sizes[3] && d % step == 0 && v->sizes[3] % step == 0 && rows) {
    return efficient(q, k, v, std::move(mask), p);
  }
  return math(q, k, v, mask, p, causal, gqa);
}

Tensor Torch::flash(const Tensor& query, const Tensor& key, const Tensor& value, double, bool) {
  use_kernel("flash", "flash attention");
  const std::int64_t d = query->sizes[3];
  const std::int64_t padding = up_to(d, 8) - d;
  const Tensor q = padding != 0 ? pad_last(query, padding) : query;
  const Tensor k = padding != 0 ? pad_last(key, padding) : key;
  const Tensor v = padding != 0 ? pad_last(value, padding) : value;
  const char* op = "aten::_scaled_dot_product_flash_attention";
  NodeRef node = record("ScaledDotProductFlashAttentionBackward0", {&q, &k, &v}, flash_backward);
  save(node, 1, k);
  save(node, 0, q);
  save(node, 2, v);
  CheckpointFrame* frame = selecting();
  const auto through = [&](const auto& make) { return frame != nullptr ? through_checkpoint(*frame, make) : make(); };
  Tensor out = through([&] { return kernel_output(*this, q, q->sizes[3], op); });
  const Tensor lse = through([&] { return empty({q->sizes[0], q->sizes[1], q->sizes[2]}, DType::fp32, op); });
  const Tensor seed = through([&] { return empty({2}, DType::int64, op); });
  const Tensor unused = through([&] { return empty({}, DType::int64, op); });
  save_output(node, 4, lse);
  save_output(node, 3, out);
  save_output(node, 5, seed);
  save_output(node, 6, unused);
  out = attach(node, std::move(out));
  return padding != 0 ? slice(out, 3, 0, d) : out;
}

Tensor Torch::efficient(const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask, double) {
  use_kernel("efficient", q->dtype == DType::bf16 ? "the memory-efficient attention of bf16" : "");
  if (mask) {
    const std::int64_t length = mask->sizes.back();
    if (length % 16 != 0) mask = slice(pad_last(mask, 16 - length % 16), 3, 0, length);
    mask = expand(mask, {q->sizes[0], q->sizes[1], q->sizes[2], k->sizes[2]});
  }
  const char* op = "aten::_scaled_dot_product_efficient_attention";
  NodeRef node = record("ScaledDotProductEfficientAttentionBackward0", {&q, &k, &v, &mask}, efficient_backward);
  save(node, 3, mask);
  save(node, 1, k);
  save(node, 0, q);
  save(node, 2, v);
  Tensor out = transpose(empty({q->sizes[0], q->sizes[2], q->sizes[1], v->sizes[3]}, q->dtype, op), 1, 2);
  const Tensor lse = empty({q->sizes[0], q->sizes[1], node ? up_to(q->sizes[2], 32) : 0}, DType::fp32, op);
  const Tensor seed = empty({}, DType::int64, op);
  const Tensor offset = empty({}, DType::int64, op);
  save_output(node, 5, lse);
  save_output(node, 4, out);
  save_output(node, 7, offset);
  save_output(node, 6, seed);
  return attach(node, std::move(out));
}

/// repeat_interleave of the heads: always a copy, unlike the models' own repeat_kv.
Tensor Torch::repeat_heads(const Tensor& x, std::int64_t times) {
  const Dims& s = x->sizes;
  const Tensor wide = expand(unsqueeze(x, 2), {s[0], s[1], times, s[2], s[3]});
  NodeRef node = record("CloneBackward0", {&wide}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return view(attach(node, empty(wide->sizes, x->dtype, "aten::clone")), {s[0], s[1] * times, s[2], s[3]});
}

/// A softmax whose rows may be masked whole (aten/src/ATen/native/SoftMax.cpp: _safe_softmax).
Tensor Torch::safe_softmax(const Tensor& x) {
  const Tensor out = softmax_last(x);
  const Tensor masked = pointwise({&x}, DType::boolean, "aten::isneginf");
  Dims rows = x->sizes;
  rows[rows.size() - 1] = 1;
  const Tensor masked_rows = empty(rows, DType::boolean, "aten::all");
  return out;
}

Tensor Torch::math(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, double p, bool causal,
                   bool gqa) {
  use_kernel("math", "");
  // The function has names for the fp32 copies until it returns.
  const Tensor query_acc = to(q, DType::fp32);
  const Tensor key_acc = to(k, DType::fp32);
  const Tensor value_acc = to(v, DType::fp32);
  const Tensor query = mul_scalar(query_acc);
  Tensor mask = bias;
  Tensor key = key_acc;
  Tensor value = value_acc;
  Restore scores(recorder.scope.bucket, Bucket::attention_scores);
  if (causal) mask = empty({q->sizes[2], k->sizes[2]}, DType::fp32, "aten::where");
  if (gqa && q->sizes[1] != k->sizes[1]) {
    key = repeat_heads(key, q->sizes[1] / k->sizes[1]);
    value = repeat_heads(value, q->sizes[1] / v->sizes[1]);
  }
  Tensor weights = matmul(query, mul_scalar(transpose(key, 2, 3)));
  if (mask) weights = add_(weights, mask);
  weights = safe_softmax(weights);
  weights = functional_dropout(weights, p);
  return to(matmul(weights, value), q->dtype);
}

}  // namespace oomplan::estimator
