#include "torch/unsloth.hpp"

#include <utility>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t initial_elements = 2 * 256 * 2048;  // INITIAL_GPU_BUFFER_SIZE
constexpr std::int64_t smallest_bytes = 2 * 1024 * 1024;   // MINIMUM_SIZE

}  // namespace

UnslothBuffers::UnslothBuffers(Torch& torch, DType dtype, bool offloads, bool compiled)
    : torch_(torch), dtype_(dtype), offloads_(offloads), compiled_(compiled) {}

void UnslothBuffers::load() {
  if (!offloads_) return;
  Restore bucket(torch_.recorder.scope.bucket, Bucket::activations);
  for (Tensor& buffer : inputs_) buffer = torch_.empty({initial_elements}, dtype_, "unsloth::buffer");
}

// resize_: the old one goes once its elements are in the new one.
void UnslothBuffers::grow(Tensor& buffer, std::int64_t elements, DType dtype, const char* op) {
  if (buffer && buffer->numel() >= elements) return;
  Restore outside(torch_.recorder.scope.layer, std::int16_t{-1});
  buffer = torch_.empty({elements}, dtype, op);
}

// UnslothCheckpointFunction.forward. Double buffering asks for 512 MiB that are free, which is taken to be so.
int UnslothBuffers::leave(const Tensor& input) {
  if (!offloads_) return -1;
  count();
  const std::int64_t elements = input->numel();
  if (!is_large(input) || (!first_ && current_ == last_)) return -1;
  if (backward_) {
    backward_ = false;
    both_ = both_ || !first_;
  }
  Restore bucket(torch_.recorder.scope.bucket, Bucket::activations);
  grow(inputs_[0], elements, inputs_[0]->dtype, "unsloth::buffer");
  if (both_) grow(inputs_[1], elements, inputs_[1]->dtype, "unsloth::buffer");
  return std::exchange(next_, 1 - next_);
}

void UnslothBuffers::count() {
  if (first_) ++last_;
  ++current_;
}

void UnslothBuffers::note_backward() {
  backward_ = true;
  first_ = false;
  current_ = 0;
}

Tensor UnslothBuffers::bring_back(int buffer, const Dims& sizes) {
  const Tensor& from = inputs_[both_ ? static_cast<std::size_t>(buffer) : 0];
  return torch_.on_storage(from->storage, sizes, contiguous_strides(sizes), from->dtype);
}

bool UnslothBuffers::is_large(const Tensor& input) const {
  return input->numel() > smallest_bytes / bytes_of(inputs_[0]->dtype);
}

void UnslothBuffers::leave_garbage(std::size_t kind, std::vector<Tensor> named, const Tensor& input) {
  if (!offloads_ || !is_large(input)) named.push_back(torch_.detach(input));
  garbage_.try_emplace(kind, std::move(named));
}

Tensor UnslothBuffers::dequantize(const Dims& sizes, std::int64_t blocks, DType dtype) {
  Restore bucket(torch_.recorder.scope.bucket, Bucket::temporaries);
  grow(weight_, sizes.product(), dtype, "unsloth::fast_dequantize");
  grow(absmax_, blocks, DType::fp32, "unsloth::fast_dequantize");
  return torch_.on_storage(weight_->storage, sizes, contiguous_strides(sizes), dtype);
}

}  // namespace oomplan::estimator
