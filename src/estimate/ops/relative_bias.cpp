// BeitRelativePositionBias: a layer's own table of distances between patches, interpolated to its own size, of which
// each pair of tokens takes an entry for each head.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class RelativeBias final : public Module {
 public:
  RelativeBias(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")), side_(a.integer("image_size") / a.integer("patch_size")) {
    const std::int64_t distances = saturating_mul(2 * side_ - 1, 2 * side_ - 1) + 3;
    table_ = b.weight(a.module() + ".relative_position_bias_table", {distances, heads_}, Part::embedding);
  }

  void forward(Play& play, Stream& s) const override { s.arguments.masks[0] = bias(play.torch); }

 private:
  Tensor bias(Torch& t) const {
    const std::int64_t span = 2 * side_ - 1;
    const Tensor square = t.view(t.slice(table_, 0, 0, span * span), {1, span, span, heads_});
    Tensor resized = interpolated(t, t.permute(square, {0, 3, 1, 2}));
    resized = t.reshape(t.permute(resized, {0, 2, 3, 1}), {span * span, heads_});
    const Tensor all = t.cat({resized, t.slice(table_, 0, span * span, 3)}, 0);
    const std::int64_t tokens = side_ * side_ + 1;
    const Tensor rows = t.view(chosen(t, all, tokens * tokens), {tokens, tokens, heads_});
    return t.unsqueeze(t.contiguous(t.permute(rows, {2, 0, 1})), 0);
  }

  /// all[index] of an index on the CPU, which the GPU has a copy of only while it takes the rows.
  static Tensor chosen(Torch& t, const Tensor& all, std::int64_t count) {
    NodeRef node = t.record("IndexBackward0", {&all}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.zeros(n.dims, g.in[0]->dtype);
      torch.empty({g.in[0]->sizes[0]}, DType::int64, "aten::_to_copy");
    });
    if (node) node->dims = all->sizes;
    const Tensor index = t.empty({count}, DType::int64, "aten::_to_copy");
    return t.attach(node, t.empty({count, all->sizes[1]}, all->dtype, "aten::index"));
  }

  static Tensor interpolated(Torch& t, const Tensor& x) {
    NodeRef node = t.record("UpsampleBilinear2DBackward0", {&x},
                            [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
    if (node) node->dims = x->sizes;
    return t.attach(node, t.empty(x->sizes, x->dtype, "aten::upsample_bilinear2d"));
  }

  std::int64_t heads_;
  std::int64_t side_;  ///< Of the picture, in patches.
  Tensor table_{};
};

}  // namespace

extern const OpType relative_bias;
const OpType relative_bias{"relative_bias", make_module<RelativeBias>};

}  // namespace oomplan::estimator::ops
