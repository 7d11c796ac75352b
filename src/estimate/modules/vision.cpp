#include "modules/vision.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oomplan::estimator {

bool is_in_tower(const Builder& b) {
  const auto is_built = [&](const Segment& segment) { return segment.tower && b.prefix == segment.module + ".*"; };
  return std::ranges::any_of(b.architecture.body, is_built);
}

std::int64_t tiles_of(const Facts& f) {
  return saturating_mul(f.batch, saturating_mul(f.images.count, f.images.tiles));
}

void send_pixels(Torch& t, const Facts& f, Stream& s, const Dims& sizes) {
  if (f.images.count == 0) return;
  s.pixels = t.empty(sizes, f.images.dtype.value_or(f.weights), "batch");
}

PatchConvolution::PatchConvolution(Builder& b, const std::string& name, std::int64_t patch, std::int64_t width,
                                   bool bias)
    : weight_(b.convolution(name, {width, patch}, true)), module_(b.module_id(name)) {
  if (bias) bias_ = b.weight(name + ".bias", {width}, Part::bias);
  adapter_ = ConvAdapter(b, name, patch, width, {});
}

namespace {

// derivatives.yaml: convolution_backward, of the input, the weight and the bias at once.
Tensor convolved(Torch& t, const Tensor& input_pixels, const Tensor& kernel_weight, const Tensor& kernel_bias,
                 const Dims& sizes) {
  const Tensor x = t.lowered(input_pixels);
  const Tensor weight = t.lowered(kernel_weight);
  const Tensor bias = t.lowered(kernel_bias);
  NodeRef node = t.record("ConvolutionBackward0", {&x, &weight, &bias}, [](Torch& torch, Node& n, Grads& g) {
    const char* op = "aten::convolution_backward";
    const Tensor input = torch.unpack(n, 0);
    const Tensor kernel = torch.unpack(n, 1);
    if (n.needs(0)) g.out[0] = torch.empty(input->sizes, g.in[0]->dtype, op);
    if (n.needs(1)) g.out[1] = torch.empty(kernel->sizes, g.in[0]->dtype, op);
    if (n.needs(2)) g.out[2] = torch.empty({kernel->sizes[0]}, g.in[0]->dtype, op);
  });
  t.save(node, 0, x);
  t.save(node, 1, weight);
  return t.attach(node, t.empty(sizes, x->dtype, "aten::convolution"));
}

}  // namespace

Tensor PatchConvolution::operator()(Play& play, const Tensor& pixels, const Dims& sizes) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  const Tensor x = t.to(pixels, weight_->dtype);
  Tensor result = convolved(t, x, weight_, bias_, sizes);
  return adapter_(play, x, std::move(result), [&](const Tensor& input, const Tensor& weight, bool) {
    Dims out = sizes;
    out[1] = weight->sizes[0];
    return convolved(t, input, weight, {}, out);
  });
}

void ask_for_gradient(const Facts& facts, const Tensor& embedded) {
  if (facts.patch_grads) embedded->requires_grad = true;
}

void refuse_images(Builder& b, std::string message, std::string hint) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = b.architecture.source + ": " + std::move(message);
  d.where = b.facts.images.at;
  d.hint = std::move(hint);
  b.add_once(std::move(d));
}

Grid grid_of(Builder& b, std::int64_t patch, std::int64_t step, std::int64_t most) {
  const Images& i = b.facts.images;
  if (i.count == 0) return {};
  if (i.height == 0 || i.width == 0) {
    refuse_images(b, "the size of its images decides what it holds, and is not known",
                  "set image_height and image_width, in pixels.");
    return {};
  }
  if (i.height % step != 0 || i.width % step != 0) {
    refuse_images(b, fmt::format("no image of {} x {} pixels comes from its processor", i.height, i.width),
                  fmt::format("image_height and image_width are multiples of {}.", step));
    return {};
  }
  const Grid out{i.height / patch, i.width / patch};
  if (saturating_mul(out.height, out.width) > most) {
    refuse_images(b, fmt::format("no image of {} x {} pixels comes from its processor", i.height, i.width),
                  fmt::format("image_height times image_width is {} pixels at most.",
                              saturating_mul(most, saturating_mul(patch, patch))));
    return {};
  }
  return out;
}

void check_room(Builder& b, std::int64_t tokens) {
  b.media_tokens = saturating_add(b.media_tokens, tokens);
  if (b.media_tokens <= b.facts.length) return;
  Diagnostic d;
  d.code = "estimate/too-long";
  d.message = fmt::format("the {} of a row are {} tokens, and the row has {}",
                          b.facts.sounds.count > 0 ? "images and sounds" : "images", b.media_tokens, b.facts.length);
  d.where = b.facts.images.at;
  d.hint = b.facts.sounds.count > 0
               ? "make rows longer, or set clip_milliseconds, image_height and image_width to those of the rows"
               : "make rows longer, or set image_height and image_width to those of the pictures as the model is given "
                 "them";
  b.problems.push_back(std::move(d));
}

namespace {

/// aten/src/ATen/native/cuda/Indexing.cu, masked_scatter__cuda_impl: a sum of what the mask takes before each element,
/// and the mask as large as what it is laid on.
void scatter_in_place(Torch& t, const Tensor& into, const Tensor& source) {
  const Tensor before = t.empty({into->numel()}, DType::int64, "aten::masked_scatter_");
  const Tensor mask = t.empty(into->sizes, DType::boolean, "aten::masked_scatter_");
  const Tensor rows = contiguous(*source) ? source : t.empty(source->sizes, source->dtype, "aten::masked_scatter_");
}

/// masked_select through an index of the elements that the mask takes, one number for each of three dimensions.
Tensor selected(Torch& t, const Tensor& gradient, const Dims& sizes) {
  const char* op = "aten::masked_select";
  const Tensor mask = t.empty(gradient->sizes, DType::boolean, op);
  const Tensor index = t.empty({3, sizes.product()}, DType::int64, op);
  return t.empty(sizes, gradient->dtype, op);
}

}  // namespace

Tensor masked_scatter(Torch& t, const Tensor& into, const Tensor& mask, const Tensor& source) {
  NodeRef node = t.record("MaskedScatterBackward0", {&into, &source}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor where = torch.unpack(n, 0);
    if (n.needs(0)) g.out[0] = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::clone");
    if (n.needs(1)) g.out[1] = selected(torch, g.in[0], n.dims);
  });
  if (node) node->dims = source->sizes;
  t.save(node, 0, mask);
  const Tensor out = t.empty(into->sizes, into->dtype, "aten::clone");
  scatter_in_place(t, out, source);
  return t.attach(node, out);
}

Tensor cat_of_parts(Torch& t, const Tensor& x, const Dims& sizes) {
  NodeRef node = t.record("CatBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::cat");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, t.empty(sizes, x->dtype, "aten::cat"));
}

}  // namespace oomplan::estimator
