// ZambaMambaMixer without packages of kernels: Mamba's, whose channels are heads with projections of their own, each
// scanned by itself.
#include "modules/causal_conv.hpp"
#include "modules/linear.hpp"
#include "modules/selective_scan.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t most_heads = 3;  // each is a loop over its row's tokens

/// weight[:, None] @ x of a weight of heads × out × in and x of heads × batch × in × length.
Tensor project_heads(Torch& t, const Tensor& w, const Tensor& x) {
  const Tensor input = t.lowered(x);
  const Tensor weight = t.lowered(t.unsqueeze(w, 1));
  const Dims& sizes = weight->sizes;
  return t.matmul(t.expand(weight, {sizes[0], input->sizes[1], sizes[2], sizes[3]}), input);
}

class ZambaMambaMixer final : public Module {
 public:
  ZambaMambaMixer(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        width_(a.quotient("inner", "heads")),
        state_(a.integer("state")),
        rank_(a.integer("rank")),
        module_(b.module_id(a.module())) {
    if (b.facts.length > longest_scan) a.unmodelled("rows so long in a loop over their tokens");
    if (heads_ > most_heads) a.unmodelled("so many heads of a Mamba layer");
    const std::string m = a.module() + ".";
    const std::int64_t inner = a.integer("inner");
    const bool bias = a.flag("bias", false);
    x_proj_ = b.weight(m + "x_proj_weight", {heads_, rank_ + 2 * state_, width_}, Part::matrix);
    dt_proj_ = b.weight(m + "dt_proj_weight", {heads_, width_, rank_}, Part::matrix);
    dt_bias_ = b.weight(m + "dt_proj_bias", {heads_, width_}, Part::bias);
    {
      Restore own(b.own_dtype, std::optional(DType::fp32));
      a_log_ = b.weight(m + "A_log", {heads_, width_, state_}, Part::matrix);
    }
    d_ = b.weight(m + "D", {heads_, width_}, Part::bias);
    conv_ = CausalConv(a, b, m + "conv1d", inner, a.integer("kernel"), a.flag("conv_bias", true),
                       find_activation(a.text("activation", "silu"), b));
    in_proj_ = Linear(b, m + "in_proj", a.integer("width"), saturating_mul(2, inner), bias);
    out_proj_ = Linear(b, m + "out_proj", inner, a.integer("width"), bias);
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = mixed(play, s.hidden, s.arguments.recurrent_mask);
  }

 private:
  Tensor mixed(Play& play, const Tensor& input, const Tensor& mask) const {
    Torch& t = play.torch;
    const Dims sizes{input->sizes[0], heads_, width_, input->sizes[1]};
    const Tensor hidden = without_padding(t, input, mask);
    const Tensor projected = t.transpose(in_proj_(play, hidden), 1, 2);
    const std::vector<Tensor> halves = t.split(t.view(projected, {sizes[0], -1, 2, sizes[3]}), 1, 2);
    Tensor mixed = t.contiguous(t.squeeze(halves[0], 2));
    const Tensor gate = t.transpose(t.reshape(halves[1], sizes), 0, 1);
    mixed = conv_(play, mixed);
    mixed = without_padding(t, t.transpose(mixed, 1, 2), mask);
    mixed = t.transpose(mixed, 1, 2);
    mixed = t.transpose(t.reshape(mixed, sizes), 0, 1);
    const Tensor parameters = t.transpose(project_heads(t, x_proj_, mixed), 2, 3);
    const std::vector<Tensor> parts = t.split_sizes(parameters, {rank_, state_, state_}, 3);
    const Tensor dt = project_heads(t, dt_proj_, t.transpose(parts[0], 2, 3));
    const Tensor bias = t.to(dt_bias_, DType::fp32);
    const Tensor a = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    std::vector<Tensor> scanned;  // A name until the function returns, as the others.
    for (std::int64_t i = 0; i < heads_; ++i) {
      const auto head = [&](const Tensor& x) { return t.select(x, 0); };
      const Tensor d = t.to(head(d_), DType::fp32);
      scanned.push_back(selective_scan(
          t, {head(mixed), head(dt), head(a), head(parts[1]), head(parts[2]), d, head(gate), head(bias)}));
    }
    const Tensor out = cat_all(t, scanned, 1);
    return out_proj_(play, t.to(t.transpose(out, 1, 2), input->dtype));
  }

  std::int64_t heads_;
  std::int64_t width_;  ///< Of a head.
  std::int64_t state_;
  std::int64_t rank_;
  std::int32_t module_;
  CausalConv conv_{};
  Linear in_proj_{}, out_proj_{};
  Tensor x_proj_{}, dt_proj_{}, dt_bias_{}, a_log_{}, d_{};
};

}  // namespace

extern const OpType zamba_mamba_mixer;
const OpType zamba_mamba_mixer{"zamba_mamba_mixer", make_module<ZambaMambaMixer>};

}  // namespace oomplan::estimator::ops
