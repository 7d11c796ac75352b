// Tensors without data: shape, strides, dtype, storage and their place in the autograd graph.
//
// Two counts decide what PyTorch copies and when it frees, so both are kept: how many tensors hold a storage, and how
// many hold a tensor (c10::TensorImpl's use_count).
#pragma once

#include <cstdint>
#include <utility>

#include "dims.hpp"
#include "recorder.hpp"

namespace oomplan::estimator {

class Torch;
struct Node;
struct TensorImpl;

/// A reference to a tensor; empty where there is none.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImpl* adopted) : impl_(adopted) {}
  inline Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() { reset(); }

  inline void reset();
  explicit operator bool() const { return impl_ != nullptr; }
  TensorImpl* operator->() const { return impl_; }
  TensorImpl& operator*() const { return *impl_; }
  TensorImpl* get() const { return impl_; }

 private:
  TensorImpl* impl_ = nullptr;
};

/// A reference to an autograd node.
class NodeRef {
 public:
  NodeRef() = default;
  inline explicit NodeRef(Node* node);
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() { reset(); }
  inline void reset();
  explicit operator bool() const { return node_ != nullptr; }
  Node* operator->() const { return node_; }
  Node* get() const { return node_; }

 private:
  Node* node_ = nullptr;
};

struct TensorImpl {
  Torch* torch = nullptr;
  int refs = 1;
  StorageId storage = StorageId::none;
  DType dtype = DType::fp32;
  Dims sizes{};
  Dims strides{};
  std::int64_t offset = 0;  ///< In its storage, in elements; not told of what select() takes.
  std::uint8_t output_nr = 0;
  bool requires_grad = false;  ///< Of a leaf as asked for; of another, that it has a grad_fn.
  bool parameter = false;
  bool subclass = false;  ///< Of a parameter: a DTensor.
  NodeRef grad_fn{};
  Node* accumulator = nullptr;  ///< Weak, as torch's grad_accumulator: the graph owns it.
  Tensor grad{};
  Tensor base{};            ///< A view keeps its base alive.
  std::int16_t layer = -1;  ///< Of a parameter: the block that owns it.
  std::int32_t module = -1;

  std::int64_t numel() const { return sizes.product(); }
  int dim() const { return sizes.size(); }
  bool leaf() const { return !grad_fn; }
};

void free_impl(TensorImpl* impl);

inline Tensor::Tensor(const Tensor& other) : impl_(other.impl_) {
  if (impl_ != nullptr) ++impl_->refs;
}

inline void Tensor::reset() {
  TensorImpl* impl = std::exchange(impl_, nullptr);
  if (impl != nullptr && --impl->refs == 0) free_impl(impl);
}

bool contiguous(const TensorImpl& t);
/// No two elements overlap and there are no gaps (c10's is_non_overlapping_and_dense).
bool dense(const TensorImpl& t);
Dims contiguous_strides(const Dims& sizes);

}  // namespace oomplan::estimator
