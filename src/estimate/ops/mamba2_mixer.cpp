// Mamba2Mixer without packages of kernels: one projection to the gate, what a short convolution mixes, and the time
// steps of heads; a scan in chunks, normed under the gate. Falcon H1 multiplies what it reads and projects by numbers,
// and may gate without a norm.
#include <array>

#include "modules/causal_conv.hpp"
#include "modules/chunk_scan.hpp"
#include "modules/gated_norm.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

/// What the gate does to the scan's result.
enum class Gate {
  normed,       ///< Mamba-2: MambaRMSNormGated.
  plain,        ///< Falcon H1: times silu(gate).
  before_norm,  ///< Falcon H1: so in fp32, then normed by groups with their weights, in fp32.
  after_norm,   ///< Normed so first.
};
constexpr std::array<std::string_view, 4> gate_names{"normed", "plain", "before_norm", "after_norm"};

class Mamba2Mixer final : public Module {
 public:
  Mamba2Mixer(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        inner_(a.integer("inner")),
        state_(a.integer("state")),
        groups_(a.integer("groups")),
        chunk_(a.integer("chunk")),
        multiplied_(a.flag("multiplied", false)),
        gate_(static_cast<Gate>(a.choice("gate", gate_names))),
        older_(a.find(older_code) != nullptr),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", false);
    mixed_ = saturating_add(inner_, saturating_mul(2, saturating_mul(groups_, state_)));
    conv_ = CausalConv(a, b, m + "conv1d", mixed_, a.integer("kernel"), a.flag("conv_bias", true),
                       find_activation(a.text("activation", "silu"), b));
    in_proj_ = Linear(b, m + "in_proj", width, inner_ + mixed_ + heads_, bias);
    dt_bias_ = b.weight(m + "dt_bias", {heads_}, Part::bias);
    a_log_ = b.weight(m + "A_log", {heads_}, Part::bias);
    const std::int64_t group = a.quotient("inner", "groups");
    if (gate_ != Gate::plain) norm_ = GroupedGatedNorm(b, m + "norm", inner_, group);
    d_ = b.weight(m + "D", {heads_}, Part::bias);
    out_proj_ = Linear(b, m + "out_proj", inner_, width, a.flag("out_bias", bias));
    if (!multiplied_) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    multipliers_ = b.torch.empty({1, 1, inner_ + mixed_ + heads_}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const DType dtype = s.hidden->dtype;
    const Tensor& mask = s.arguments.recurrent_mask;
    Tensor hidden = without_padding(t, s.hidden, mask, older_);
    if (multiplied_) hidden = t.mul_scalar(hidden);
    Tensor projected = in_proj_(play, hidden);
    if (multiplied_) projected = t.mul(projected, multipliers_);
    const Tensor a = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    const std::vector<Tensor> parts = t.split_sizes(projected, {inner_, mixed_, heads_}, 2);
    Tensor mixed = conv_(play, t.transpose(parts[1], 1, 2));
    mixed = without_padding(t, t.transpose(mixed, 1, 2), mask, older_);
    if (!older_) hidden.reset();  // Its name is that of a part of the mixed ones from here on.
    Tensor scanned = scan(t, mixed, parts[2], a);
    scanned = gated(play, scanned, parts[0]);
    s.hidden = out_proj_(play, t.to(scanned, dtype));
  }

 private:
  Tensor gated(Play& play, const Tensor& scanned, const Tensor& gate) const {
    if (gate_ == Gate::normed) return norm_(play, scanned, gate);
    if (gate_ == Gate::plain) return play.torch.mul(scanned, play.torch.silu(gate));
    return gate_ == Gate::before_norm ? norm_.gated_first(play, scanned, gate)
                                      : norm_.normed_first(play, scanned, gate);
  }

  Tensor scan(Torch& t, const Tensor& mixed, const Tensor& dt, const Tensor& a) const {
    const Dims& sizes = mixed->sizes;
    const std::int64_t shared = saturating_mul(groups_, state_);
    const std::vector<Tensor> parts = t.split_sizes(mixed, {inner_, shared, shared}, 2);
    const Tensor hidden = t.view(parts[0], {sizes[0], sizes[1], heads_, -1});
    const Tensor b = t.view(parts[1], {sizes[0], sizes[1], groups_, state_});
    const Tensor c = t.view(parts[2], {sizes[0], sizes[1], groups_, state_});
    const Tensor out = chunk_scan(t, {hidden, dt, a, b, c, d_, dt_bias_, chunk_, older_});
    return t.reshape(out, {sizes[0], sizes[1], -1});
  }

  std::int64_t heads_;
  std::int64_t inner_;
  std::int64_t state_;
  std::int64_t groups_;
  std::int64_t chunk_;
  std::int64_t mixed_ = 0;
  bool multiplied_;
  Gate gate_;
  bool older_;
  std::int32_t module_;
  CausalConv conv_{};
  Linear in_proj_{}, out_proj_{};
  Tensor dt_bias_{}, a_log_{}, d_{}, multipliers_{};
  GroupedGatedNorm norm_{};
};

}  // namespace

extern const OpType mamba2_mixer;
const OpType mamba2_mixer{"mamba2_mixer", make_module<Mamba2Mixer>};

}  // namespace oomplan::estimator::ops
