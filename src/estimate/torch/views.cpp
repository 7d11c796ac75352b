// aten/src/ATen/native/TensorShape.cpp and TensorUtils.cpp (computeStride).
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

/// The strides that view x as `sizes`, or nothing where only a copy can.
std::optional<Dims> view_strides(const TensorImpl& x, const Dims& sizes) {
  if (x.numel() == 0) return contiguous_strides(sizes);
  Dims strides = sizes;
  int d = sizes.size() - 1;
  std::int64_t chunk_base = x.dim() == 0 ? 1 : x.strides.back();
  std::int64_t tensor_numel = 1;
  std::int64_t view_numel = 1;
  for (int i = x.dim() - 1; i >= 0; --i) {
    tensor_numel = saturating_mul(tensor_numel, x.sizes[i]);
    const bool chunk_ends =
        i == 0 || (x.sizes[i - 1] != 1 && x.strides[i - 1] != saturating_mul(tensor_numel, chunk_base));
    if (!chunk_ends) continue;
    while (d >= 0 && (view_numel < tensor_numel || sizes[d] == 1)) {
      strides[d] = saturating_mul(view_numel, chunk_base);
      view_numel = saturating_mul(view_numel, sizes[d]);
      --d;
    }
    if (view_numel != tensor_numel) return std::nullopt;
    if (i > 0) {
      chunk_base = x.strides[i - 1];
      tensor_numel = view_numel = 1;
    }
  }
  while (d >= 0 && sizes[d] == 1) strides[d--] = 1;
  return d == -1 ? std::optional(strides) : std::nullopt;
}

/// The strides of a view that the framework's own code takes, so that there are some; but for sizes that have run out
/// of 64 bits, of which any will do: such a run is refused when it is counted.
Dims strides_of_view(const TensorImpl& x, const Dims& sizes) {
  return view_strides(x, sizes).value_or(contiguous_strides(sizes));
}

Dims inferred(Dims sizes, std::int64_t numel) {
  std::int64_t known = 1;
  for (int i = 0; i < sizes.size(); ++i) known = saturating_mul(known, sizes[i] == -1 ? 1 : sizes[i]);
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) sizes[i] = known == 0 ? 0 : numel / known;
  }
  return sizes;
}

void reshape_backward(Torch& t, Node& n, Grads& g) { g.out[0] = t.reshape(g.in[0], n.dims); }

/// A view of x and its node, whose `dims` are x's sizes.
Tensor viewed(Torch& t, const char* name, const Tensor& x, const Dims& sizes, const Dims& strides,
              BackwardFn backward) {
  NodeRef node = t.record(name, {&x}, backward);
  if (node) node->dims = x->sizes;
  return t.attach(node, t.view_as(x, sizes, strides));
}

}  // namespace

Tensor Torch::view(const Tensor& x, Dims sizes) {
  sizes = inferred(sizes, x->numel());
  return viewed(*this, "ViewBackward0", x, sizes, strides_of_view(*x, sizes), reshape_backward);
}

Tensor Torch::unsafe_view(const Tensor& x, Dims sizes) {
  sizes = inferred(sizes, x->numel());
  NodeRef node = record("UnsafeViewBackward0", {&x}, reshape_backward);
  if (node) node->dims = x->sizes;
  return attach(node, alias(x, sizes, strides_of_view(*x, sizes)));
}

Tensor Torch::reshape(const Tensor& x, Dims sizes) {
  sizes = inferred(sizes, x->numel());
  if (view_strides(*x, sizes)) return view(x, sizes);
  NodeRef node = record("CloneBackward0", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return unsafe_view(attach(node, empty(x->sizes, x->dtype, "aten::clone")), sizes);
}

Tensor Torch::transpose(const Tensor& x, int a, int b) {
  NodeRef node = record(x->dim() == 2 ? "TBackward0" : "TransposeBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = t.transpose(g.in[0], static_cast<int>(n.ints[0]), static_cast<int>(n.ints[1]));
  });
  if (node) node->ints = {a, b};
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes.swap(a, b);
  strides.swap(a, b);
  return attach(node, view_as(x, sizes, strides));
}

Tensor Torch::permute(const Tensor& x, const Dims& order) {
  NodeRef node = record("PermuteBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    Dims inverse = n.dims;
    for (int i = 0; i < n.dims.size(); ++i) inverse[static_cast<int>(n.dims[i])] = i;
    g.out[0] = t.permute(g.in[0], inverse);
  });
  if (node) node->dims = order;
  Dims sizes = order;
  Dims strides = order;
  for (int i = 0; i < order.size(); ++i) {
    sizes[i] = x->sizes[static_cast<int>(order[i])];
    strides[i] = x->strides[static_cast<int>(order[i])];
  }
  return attach(node, view_as(x, sizes, strides));
}

Tensor Torch::expand(const Tensor& x, const Dims& sizes) {
  Dims strides = sizes;
  const int lead = sizes.size() - x->dim();
  for (int i = sizes.size() - 1; i >= 0; --i) {
    const int from = i - lead;
    if (from < 0) {
      strides[i] = i + 1 < sizes.size() ? saturating_mul(sizes[i + 1], strides[i + 1]) : 1;
      if (sizes[i] != 1) strides[i] = 0;
    } else {
      strides[i] = x->sizes[from] == sizes[i] ? x->strides[from] : 0;
    }
  }
  return viewed(*this, "ExpandBackward0", x, sizes, strides,
                [](Torch& t, Node& n, Grads& g) { g.out[0] = t.sum_to(g.in[0], n.dims); });
}

Tensor Torch::unsqueeze(const Tensor& x, int dim) {
  NodeRef node = record("UnsqueezeBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = t.squeeze(g.in[0], static_cast<int>(n.ints[0]));
  });
  if (node) node->ints[0] = dim;
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  strides.insert(dim, dim < x->dim() ? saturating_mul(x->sizes[dim], x->strides[dim]) : 1);
  sizes.insert(dim, 1);
  return attach(node, view_as(x, sizes, strides));
}

Tensor Torch::squeeze(const Tensor& x, int dim) {
  NodeRef node = record("SqueezeBackward1", {&x}, [](Torch& t, Node& n, Grads& g) {
    g.out[0] = t.unsqueeze(g.in[0], static_cast<int>(n.ints[0]));
  });
  if (node) node->ints[0] = dim;
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes.erase(dim);
  strides.erase(dim);
  return attach(node, view_as(x, sizes, strides));
}

namespace {

std::int64_t begins_at(const Tensor& x, int dim, std::int64_t start) {
  return saturating_add(x->offset, saturating_mul(start, x->strides[dim]));
}

}  // namespace

Tensor Torch::slice(const Tensor& x, int dim, std::int64_t start, std::int64_t length) {
  Dims sizes = x->sizes;
  sizes[dim] = length;
  Tensor out = viewed(*this, "SliceBackward0", x, sizes, x->strides,
                      [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
  out->offset = begins_at(x, dim, start);
  return out;
}

Tensor Torch::every_other(const Tensor& x) {
  const int last = x->dim() - 1;
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes[last] /= 2;
  strides[last] = saturating_mul(strides[last], 2);
  return viewed(*this, "SliceBackward0", x, sizes, strides,
                [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
}

Tensor Torch::select(const Tensor& x, int dim) {
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes.erase(dim);
  strides.erase(dim);
  return viewed(*this, "SelectBackward0", x, sizes, strides,
                [](Torch& t, Node& n, Grads& g) { g.out[0] = t.zeros(n.dims, g.in[0]->dtype); });
}

namespace {

/// split_backward: what has no gradient is filled with zeros, then all are concatenated.
void split_backward(Torch& t, Node& n, Grads& g) {
  std::array<Tensor, 8> filled{};
  DType dtype = DType::fp32;
  for (int i = 0; i < n.output_count; ++i) {
    if (g.in[static_cast<std::size_t>(i)]) dtype = g.in[static_cast<std::size_t>(i)]->dtype;
  }
  for (int i = 0; i < n.output_count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    filled[k] = g.in[k] ? g.in[k] : t.zeros(n.outputs[k].sizes, dtype);
  }
  g.out[0] = t.empty(n.dims, dtype, "aten::cat");
}

}  // namespace

std::vector<Tensor> Torch::split(const Tensor& x, std::int64_t size, int dim) {
  const auto parts = static_cast<int>(std::max<std::int64_t>((x->sizes[dim] + size - 1) / size, 1));  // One, if empty.
  NodeRef node = record("SplitBackward0", {&x}, split_backward);
  if (node) node->dims = x->sizes;
  std::vector<Tensor> out;
  for (int i = 0; i < parts; ++i) {
    Dims sizes = x->sizes;
    sizes[dim] = std::min(size, x->sizes[dim] - i * size);
    out.push_back(attach(node, view_as(x, sizes, x->strides), i));
    out.back()->offset = begins_at(x, dim, i * size);
  }
  return out;
}

// unbind_backward stacks the gradients.
std::vector<Tensor> Torch::unbind(const Tensor& x, int dim) {
  NodeRef node = record("UnbindBackward0", {&x}, split_backward);
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes.erase(dim);
  strides.erase(dim);
  std::vector<Tensor> out;
  for (std::int64_t i = 0; i < x->sizes[dim]; ++i) {
    out.push_back(attach(node, view_as(x, sizes, strides), static_cast<int>(i)));
    out.back()->offset = begins_at(x, dim, i);
  }
  return out;
}

std::vector<Tensor> Torch::split_sizes(const Tensor& x, std::initializer_list<std::int64_t> parts, int dim) {
  NodeRef node = record("SplitWithSizesBackward0", {&x}, split_backward);
  if (node) node->dims = x->sizes;
  std::vector<Tensor> out;
  std::int64_t start = 0;
  for (const std::int64_t part : parts) {
    Dims sizes = x->sizes;
    sizes[dim] = part;
    out.push_back(attach(node, view_as(x, sizes, x->strides), static_cast<int>(out.size())));
    out.back()->offset = begins_at(x, dim, start);
    start += part;
  }
  return out;
}

}  // namespace oomplan::estimator
