// What Unsloth's functions keep on the GPU from step to step: buffers for inputs of checkpoints that wait on the host
// (unsloth_zoo/gradient_checkpointing.py), and those that 4-bit weights are dequantized into
// (unsloth/kernels/utils.py).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tensor.hpp"

namespace oomplan::estimator {

class UnslothBuffers {
 public:
  /// `offloads`: checkpoints are Unsloth's. The buffers begin in that dtype.
  /// `compiled`: layers are code that torch.compile runs, none of Unsloth's functions.
  UnslothBuffers(Torch& torch, DType dtype, bool offloads, bool compiled);
  UnslothBuffers(const UnslothBuffers&) = delete;
  UnslothBuffers& operator=(const UnslothBuffers&) = delete;

  bool compiled() const { return compiled_; }

  /// The model is loaded: those for checkpoints begin.
  void load();

  /// A checkpoint whose input asks for a gradient. In a pass without any that is the first layer's.
  void count();
  /// A checkpoint's forward: which buffer its input comes back into; -1: the input stays on the GPU.
  int leave(const Tensor& input);
  /// Its backward: a view of that buffer.
  Tensor bring_back(int buffer, const Dims& sizes);
  /// A checkpoint runs backward, whatever its input.
  void note_backward();

  /// torch.compile of what a layer runs, in the first backward pass of each kind of layer: Python's garbage has what
  /// the frames named then, and the checkpoint's input unless that came back into a buffer.
  void leave_garbage(std::size_t kind, std::vector<Tensor> named, const Tensor& input);

  /// fast_dequantize(use_global_buffer = True) of a weight whose absmax has so many blocks.
  Tensor dequantize(const Dims& sizes, std::int64_t blocks, DType dtype);

 private:
  bool is_large(const Tensor& input) const;
  void grow(Tensor& buffer, std::int64_t elements, DType dtype, const char* op);

  Torch& torch_;
  DType dtype_;
  bool offloads_;
  bool compiled_;
  std::array<Tensor, 2> inputs_{};
  std::int64_t last_ = 0;     ///< How many checkpoints the first forward pass had: the last one's input stays later.
  std::int64_t current_ = 0;  ///< Of the forward pass at hand.
  bool first_ = true;         ///< No backward pass has been.
  bool backward_ = true;      ///< One has been since the last checkpoint that offloaded.
  bool both_ = false;         ///< Both buffers are used, from the second forward pass on.
  int next_ = 0;
  std::map<std::size_t, std::vector<Tensor>> garbage_{};  ///< By kind of layer.
  Tensor weight_{};
  Tensor absmax_{};
};

}  // namespace oomplan::estimator
