// aten/src/ATen/native/ReduceOps.cpp, SoftMax.cpp, ExpandUtils.h (sum_to).
#include "torch/reductions.hpp"

#include <algorithm>
#include <bit>

namespace oomplan::estimator {
namespace {

/// A function whose gradient needs its result alone. Beside the result the kernel holds a copy of what is not
/// contiguous (aten/src/ATen/native/cuda/SoftMax.cu: host_softmax).
Tensor normalised(Torch& t, const char* name, const char* op, const Tensor& x, DType dtype, BackwardFn backward) {
  NodeRef node = t.record(name, {&x}, backward);
  Tensor out = t.empty(x->sizes, dtype, op);
  if (!contiguous(*x)) t.empty(x->sizes, x->dtype, "aten::contiguous");
  t.save_output(node, 0, out);
  return t.attach(node, std::move(out));
}

// An H100's, whose buffers were measured; a GPU with fewer takes less where sums are long.
constexpr std::int64_t multiprocessors = 132;
constexpr std::int64_t threads_of_each = 2048;

std::int64_t over(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What the kernel puts down its blocks' sums in, where `rows` of `columns` are summed up to one row and a row's sum is
/// shared among blocks (aten/src/ATen/native/cuda/Reduce.cuh: setReduceConfig, global_memory_size). 0 where none is.
std::int64_t sum_buffer(std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1) return 0;
  std::int64_t vector = 4;
  while (columns % vector != 0) vector /= 2;
  const auto most = [&](std::int64_t n) {
    const std::int64_t threads = 512 / vector;
    return n < threads ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n))) : threads;
  };
  const std::int64_t height = std::min(most(rows), 512 / vector / std::min<std::int64_t>(most(columns / vector), 32));
  const std::int64_t width = std::min(most(columns / vector), 512 / vector / height);
  const std::int64_t each = over(rows, height);
  const std::int64_t grid = over(columns / vector, width);
  const std::int64_t wanted = multiprocessors * (threads_of_each / (width * height));
  if (rows < std::min<std::int64_t>(height * 16, 256) || each < 256 || grid > wanted) return 0;
  const std::int64_t blocks = std::max(std::min(over(wanted, grid), over(each, 16)), over(each, 256));
  return blocks > 1 ? saturating_mul(4 * columns, blocks * width * vector) : 0;
}

/// x summed over its first dimensions, or over others, which mostly are short.
Tensor sum_of(Torch& t, const Tensor& x, const Dims& reduced) {
  int first = 0;
  while (first < x->dim() && reduced[first] == 1) ++first;
  bool leading = contiguous(*x);
  std::int64_t columns = 1;
  for (int i = first; i < x->dim(); ++i) {
    leading = leading && reduced[i] == x->sizes[i];
    columns = saturating_mul(columns, x->sizes[i]);
  }
  Tensor out = t.empty(reduced, x->dtype, "aten::sum");
  if (leading && columns > 1) t.scratch(sum_buffer(x->numel() / columns, columns), "aten::sum");
  return out;
}

}  // namespace

Tensor Torch::mean_last(const Tensor& x) {
  NodeRef node = record("MeanBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor spread = t.expand(g.in[0], n.dims);
    g.out[0] = t.div_scalar(spread);
  });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = 1;
  return attach(node, empty(sizes, x->dtype, "aten::mean"));
}

Tensor Torch::sum_all(const Tensor& x) {
  NodeRef node =
      record("SumBackward0", {&x}, [](Torch& t, Node& n, Grads& g) { g.out[0] = t.expand(g.in[0], n.dims); });
  if (node) node->dims = x->sizes;
  return attach(node, empty({}, x->dtype, "aten::sum"));
}

// The engine casts a gradient of another dtype to its input's (torch/csrc/autograd/engine.cpp: validate_outputs).
Tensor Torch::sum_last(const Tensor& x, std::optional<DType> dtype) {
  NodeRef node = record("SumBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = t.to(t.expand(t.unsqueeze(g.in[0], n.dims.size() - 1), n.dims), static_cast<DType>(n.ints[0]));
  });
  if (node) {
    node->dims = x->sizes;
    node->ints[0] = static_cast<std::int64_t>(x->dtype);
  }
  Dims sizes = x->sizes;
  sizes.erase(sizes.size() - 1);
  return attach(node, empty(sizes, dtype.value_or(x->dtype), "aten::sum"));
}

Tensor Torch::sum_to(const Tensor& x, const Dims& sizes) {
  const int lead = x->dim() - sizes.size();
  Dims reduced = x->sizes;
  bool reduces = false;
  for (int i = 0; i < x->dim(); ++i) {
    const bool here = i < lead || (sizes[i - lead] == 1 && x->sizes[i] != 1);
    reduces = reduces || here;
    if (here) reduced[i] = 1;
  }
  const Tensor summed = reduces ? sum_of(*this, x, reduced) : x;
  return lead > 0 ? view(summed, sizes) : summed;
}

Tensor Torch::softmax_last(const Tensor& input, std::optional<DType> dtype) {
  // aten/src/ATen/native/SoftMax.cpp: of fp16 that is asked for in fp32 the kernel casts by itself, and back.
  const bool in_fp32 = dtype ? *dtype == DType::fp32 : autocast_.has_value();
  if (in_fp32 && input->dtype == DType::fp16) {
    return normalised(*this, "SoftmaxBackward0", "aten::_softmax", input, DType::fp32, [](Torch& t, Node& n, Grads& g) {
      const Tensor result = t.unpack(n, 0);
      g.out[0] = t.empty(result->sizes, DType::fp16, "aten::_softmax_backward_data");
      t.scratch(saturating_mul(result->numel(), bytes_of(result->dtype)), "aten::_softmax_backward_data");
    });
  }
  const Tensor x = dtype ? to(input, *dtype) : raised(input);
  return normalised(*this, "SoftmaxBackward0", "aten::_softmax", x, x->dtype, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.softmax_backward(result->sizes, result->dtype);
  });
}

Tensor Torch::softmax_backward(const Dims& sizes, DType dtype) {
  Tensor out = empty(sizes, dtype, "aten::_softmax_backward_data");
  scratch(saturating_mul(out->numel(), bytes_of(dtype)), "aten::_softmax_backward_data");
  return out;
}

Tensor Torch::log_softmax_last(const Tensor& x) {
  return normalised(*this, "LogSoftmaxBackward0", "aten::_log_softmax", x, x->dtype, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    g.out[0] = t.empty(result->sizes, result->dtype, "aten::_log_softmax_backward_data");
  });
}

// std_backward, var_backward: grad / (result * 2), times the distance from the mean.
Tensor std_last(Torch& t, const Tensor& x) {
  NodeRef node = t.record("StdBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    const Tensor result = torch.unpack(n, 1);
    const Tensor of_variance = torch.pointwise({&g.in[0], &result}, g.in[0]->dtype, "aten::div");
    const Tensor scaled = torch.mul_scalar(of_variance);
    const Tensor mean = torch.mean_last(self);
    const Tensor distance = torch.pointwise({&self, &mean}, self->dtype, "aten::sub");
    g.out[0] = torch.pointwise({&scaled, &distance}, distance->dtype, "aten::mul");
  });
  t.save(node, 0, x);
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] = 1;
  Tensor out = t.empty(sizes, x->dtype, "aten::std");
  t.save_output(node, 1, out);
  return t.attach(node, std::move(out));
}

Tensor mean_first(Torch& t, const Tensor& x) {
  NodeRef node = t.record("MeanBackward1", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.div_scalar(torch.expand(torch.unsqueeze(g.in[0], 0), n.dims));
  });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  sizes.erase(0);
  return t.attach(node, t.empty(sizes, x->dtype, "aten::mean"));
}

}  // namespace oomplan::estimator
