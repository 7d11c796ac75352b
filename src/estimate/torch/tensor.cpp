#include <algorithm>
#include <array>
#include <string_view>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

/// Ops that cuBLAS computes.
constexpr std::array<std::string_view, 4> of_cublas{"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"};

}  // namespace

void free_impl(TensorImpl* impl) { impl->torch->free_impl(impl); }
void free_node(Node* node) { node->torch->free_node(node); }

void Saved::clear() {
  tensor.reset();
  packed = 0;
  CheckpointFrame* held = std::exchange(frame, nullptr);
  if (held != nullptr && !held->done) {
    const auto at = static_cast<std::size_t>(index);
    if (held->forgotten.size() <= at) held->forgotten.resize(at + 1, false);
    held->forgotten[at] = true;
  }
  if (held != nullptr && --held->refs == 0) delete held;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = sizes;
  std::int64_t step = 1;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step = saturating_mul(step, std::max<std::int64_t>(sizes[i], 1));
  }
  return strides;
}

bool contiguous(const TensorImpl& t) {
  std::int64_t step = 1;
  for (int i = t.dim() - 1; i >= 0; --i) {
    if (t.sizes[i] == 1) continue;
    if (t.strides[i] != step) return false;
    step = saturating_mul(step, t.sizes[i]);
  }
  return true;
}

bool dense(const TensorImpl& t) {
  // Each dimension in turn continues where the faster ones end.
  const std::int64_t numel = t.numel();
  std::int64_t step = 1;
  while (step != numel) {
    int next = -1;
    for (int i = 0; i < t.dim() && next < 0; ++i) {
      if (t.sizes[i] > 1 && t.strides[i] == step) next = i;
    }
    if (next < 0) return false;
    step = saturating_mul(step, t.sizes[next]);
  }
  return true;
}

TensorImpl* Torch::new_impl() {
  TensorImpl* impl = impls_.take();
  impl->torch = this;
  impl->refs = 1;
  return impl;
}

void Torch::free_impl(TensorImpl* impl) {
  const StorageId storage = std::exchange(impl->storage, StorageId::none);
  impl->offset = 0;
  impl->output_nr = 0;
  impl->requires_grad = impl->parameter = impl->subclass = false;
  impl->accumulator = nullptr;
  impl->layer = -1;
  impl->module = -1;
  impl->grad.reset();
  impl->grad_fn.reset();
  if (storage != StorageId::none) recorder.release(storage);
  impl->base.reset();
  impls_.give(impl);
}

Tensor Torch::empty_strided(const Dims& sizes, const Dims& strides, DType dtype, const char* op) {
  TensorImpl* impl = new_impl();
  impl->sizes = sizes;
  impl->strides = strides;
  impl->dtype = dtype;
  impl->storage = recorder.allocate(sizes, dtype, op);
  return Tensor(impl);
}

// The handle comes after the result: structured kernels make that first.
Tensor Torch::empty(const Dims& sizes, DType dtype, const char* op) {
  Tensor out = empty_strided(sizes, contiguous_strides(sizes), dtype, op);
  if (recorder.awaits_handle() && std::ranges::find(of_cublas, op) != of_cublas.end()) recorder.multiply();
  return out;
}

void Torch::scratch(std::int64_t bytes, const char* op) {
  if (bytes == 0) return;
  Restore bucket(recorder.scope.bucket, Bucket::runtime);
  empty_strided({bytes}, {1}, DType::int8, op);
}

Tensor Torch::parameter(const Dims& sizes, DType dtype, bool trained) {
  Tensor p = empty(sizes, dtype, "parameter");
  p->requires_grad = trained;
  p->parameter = true;
  p->layer = recorder.scope.layer;
  p->module = recorder.scope.module;
  recorder.at(p->storage).bucket = Bucket::weights;
  return p;
}

Tensor Torch::on_storage(StorageId storage, const Dims& sizes, const Dims& strides, DType dtype) {
  TensorImpl* impl = new_impl();
  impl->sizes = sizes;
  impl->strides = strides;
  impl->dtype = dtype;
  impl->storage = storage;
  recorder.retain(storage);
  return Tensor(impl);
}

Tensor Torch::alias(const Tensor& x, const Dims& sizes, const Dims& strides) {
  Tensor out = on_storage(x->storage, sizes, strides, x->dtype);
  out->offset = x->offset;
  return out;
}

Tensor Torch::view_as(const Tensor& x, const Dims& sizes, const Dims& strides) {
  Tensor v = alias(x, sizes, strides);
  v->base = x->base ? x->base : x;
  return v;
}

Tensor Torch::detach(const Tensor& x) { return alias(x, x->sizes, x->strides); }

}  // namespace oomplan::estimator
