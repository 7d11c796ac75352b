// MambaMixer and its like without packages of kernels: a projection to two halves, a short convolution and a selective
// scan of the one, which the other gates. Falcon Mamba norms what the scan is given, Jamba with weights.
#include <array>

#include "modules/causal_conv.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/selective_scan.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Norms { none, weightless, weighted };
constexpr std::array<std::string_view, 3> norm_names{"none", "weightless", "weighted"};

/// FalconMambaWeightlessRMSNorm
Tensor weightless_norm(Torch& t, const Tensor& x) {
  Tensor out;
  {
    const Tensor hidden = t.to(x, DType::fp32);
    Tensor scale = t.mean_last(t.pow_scalar(hidden));
    scale = t.add_scalar(scale);
    scale = t.rsqrt(scale);
    out = t.mul(hidden, scale);
  }
  return t.to(out, x->dtype);
}

class MambaMixer final : public Module {
 public:
  MambaMixer(const Attributes& a, Builder& b)
      : inner_(a.integer("inner")),
        state_(a.integer("state")),
        rank_(a.integer("rank")),
        norms_(static_cast<Norms>(a.choice("norms", norm_names))),
        older_(a.find(older_code) != nullptr),
        module_(b.module_id(a.module())) {
    if (b.facts.length > longest_scan) a.unmodelled("rows so long in a loop over their tokens");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", false);
    conv_ = CausalConv(a, b, m + "conv1d", inner_, a.integer("kernel"), a.flag("conv_bias", true),
                       find_activation(a.text("activation", "silu"), b));
    in_proj_ = Linear(b, m + "in_proj", width, saturating_mul(2, inner_), bias);
    x_proj_ = Linear(b, m + "x_proj", inner_, rank_ + 2 * state_, false);
    dt_proj_ = Linear(b, m + "dt_proj", rank_, inner_, true);
    by_module_ = norms_ != Norms::none && b.facts.quantized && b.facts.bitsandbytes;
    if (!dt_proj_.weight(b.facts) && !by_module_ && !older_)
      a.unmodelled("a quantized dt_proj, whose weight the model reads,");
    a_log_ = b.weight(m + "A_log", {inner_, state_}, Part::matrix);
    d_ = b.weight(m + "D", {inner_}, Part::bias);
    out_proj_ = Linear(b, m + "out_proj", inner_, width, bias);
    if (norms_ == Norms::weighted) {
      dt_norm_ = RmsNorm(b, m + "dt_layernorm", rank_);
      b_norm_ = RmsNorm(b, m + "b_layernorm", state_);
      c_norm_ = RmsNorm(b, m + "c_layernorm", state_);
    }
    if (norms_ == Norms::weightless) make_buffers(b);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    if (older_) return forward_slowly(play, s);
    const DType dtype = s.hidden->dtype;
    const Tensor& mask = s.arguments.recurrent_mask;
    const Tensor hidden = without_padding(t, s.hidden, mask);
    const Tensor projected = t.transpose(in_proj_(play, hidden), 1, 2);
    const Tensor a = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    const std::vector<Tensor> halves = t.split(projected, inner_, 1);
    Tensor mixed = conv_(play, halves[0]);
    mixed = without_padding(t, t.transpose(mixed, 1, 2), mask);
    const Tensor scanned = scan(play, mixed, a, halves[1]);
    s.hidden = out_proj_(play, t.to(t.transpose(scanned, 1, 2), dtype));
  }

 private:
  /// slow_forward of versions before there were functions for what packages' kernels do.
  void forward_slowly(Play& play, Stream& s) const {
    Torch& t = play.torch;
    const Tensor& mask = s.arguments.recurrent_mask;
    const Tensor projected = t.transpose(in_proj_(play, s.hidden), 1, 2);
    const std::vector<Tensor> halves = t.split(projected, inner_, 1);
    const auto masked = [&](const Tensor& x) { return mask ? t.mul(x, t.unsqueeze(mask, 1)) : x; };
    Tensor mixed = masked(halves[0]);
    mixed = conv_(play, mixed);
    mixed = masked(mixed);
    const Tensor parameters = x_proj_(play, t.transpose(mixed, 1, 2));
    const std::vector<Tensor> parts = t.split_sizes(parameters, {rank_, state_, state_}, 2);
    Tensor dt = normed(play, dt_norm_, parts[0]);
    const Tensor b = normed(play, b_norm_, parts[1]);
    const Tensor c = normed(play, c_norm_, parts[2]);
    Tensor steps = dt_proj_(play, dt);
    steps = t.transpose(t.softplus(steps), 1, 2);
    const Tensor a = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    const Tensor scanned = scan_tokens(t, {mixed, steps, a, b, c, d_, halves[1], {}});
    s.hidden = out_proj_(play, t.transpose(scanned, 1, 2));
  }

  /// Weights that stand in for those of kernels and that nothing reads.
  void make_buffers(Builder& b) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    for (const std::int64_t size : {inner_, state_, state_}) {
      buffers_.push_back(b.torch.empty({size}, b.facts.weights, "buffer"));
    }
  }

  Tensor normed(Play& play, const RmsNorm& norm, const Tensor& x) const {
    if (norms_ == Norms::none) return x;
    return norm ? norm(play, x) : weightless_norm(play.torch, x);
  }

  Tensor scan(Play& play, const Tensor& mixed, const Tensor& a, const Tensor& gate) const {
    Torch& t = play.torch;
    const std::vector<Tensor> parts = t.split_sizes(x_proj_(play, mixed), {rank_, state_, state_}, 2);
    Tensor dt = normed(play, dt_norm_, parts[0]);
    const Tensor b = normed(play, b_norm_, parts[1]);
    const Tensor c = normed(play, c_norm_, parts[2]);
    dt = by_module_ ? t.transpose(t.sub(dt_proj_(play, dt), dt_proj_.bias(play.facts)), 1, 2)
                    : project_channels(t, dt_proj_.weight(play.facts), t.transpose(dt, 1, 2));
    const Tensor bias = t.to(dt_proj_.bias(play.facts), DType::fp32);
    const Tensor d = t.to(d_, DType::fp32);
    return selective_scan(t, {t.transpose(mixed, 1, 2), dt, a, b, c, d, gate, bias});
  }

  std::int64_t inner_;
  std::int64_t state_;
  std::int64_t rank_;
  Norms norms_;
  bool older_;
  bool by_module_ = false;  ///< dt_proj is called, since the model was loaded quantised (config._is_quantized).
  std::int32_t module_;
  CausalConv conv_{};
  Linear in_proj_{}, x_proj_{}, dt_proj_{}, out_proj_{};
  Tensor a_log_{}, d_{};
  RmsNorm dt_norm_{}, b_norm_{}, c_norm_{};
  std::vector<Tensor> buffers_{};
};

}  // namespace

extern const OpType mamba_mixer;
const OpType mamba_mixer{"mamba_mixer", make_module<MambaMixer>};

}  // namespace oomplan::estimator::ops
