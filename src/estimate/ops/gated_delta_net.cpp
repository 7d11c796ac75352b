// Qwen3NextGatedDeltaNet without packages of kernels: a short convolution of queries, keys and values, the gated delta
// rule in chunks, and a norm of its result under a gate. Qwen3_5GatedDeltaNet is the same but for its projections,
// which are four in place of two (`projections: apart`). With flash-linear-attention alone the rule and the norm are
// its kernels.
#include <algorithm>

#include "modules/causal_conv.hpp"
#include "modules/delta_rule.hpp"
#include "modules/fla.hpp"
#include "modules/gated_norm.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 2> projections{"fused", "apart"};

class GatedDeltaNet final : public Module {
 public:
  GatedDeltaNet(const Attributes& a, Builder& b)
      : key_heads_(a.integer("key_heads")),
        heads_(saturating_mul(a.quotient("value_heads", "key_heads"), key_heads_)),
        key_width_(a.integer("key_width")),
        value_width_(a.integer("value_width")),
        kernel_(a.integer("kernel")),
        apart_(a.choice("projections", projections) == 1),
        older_(a.find(older_code) != nullptr),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    keys_ = saturating_mul(key_heads_, key_width_);
    values_ = saturating_mul(heads_, value_width_);
    conv_ = CausalConv(a, b, m + "conv1d", 2 * keys_ + values_, kernel_, false,
                       find_activation(a.text("activation", "silu"), b), older_);
    if (!apart_) {
      in_qkvz_ = Linear(b, m + "in_proj_qkvz", width, saturating_mul(2, keys_ + values_), false);
      in_ba_ = Linear(b, m + "in_proj_ba", width, saturating_mul(2, heads_), false);
    }
    dt_bias_ = b.weight(m + "dt_bias", {heads_}, Part::bias);
    a_log_ = b.weight(m + "A_log", {heads_}, Part::bias);
    norm_ = NormThenGate(b, m + "norm", value_width_);
    out_proj_ = Linear(b, m + "out_proj", values_, width, false);
    kernels_ = b.facts.scan_packages && older_;
    if (!apart_) return;
    in_qkv_ = Linear(b, m + "in_proj_qkv", width, 2 * keys_ + values_, false);
    in_z_ = Linear(b, m + "in_proj_z", width, values_, false);
    in_b_ = Linear(b, m + "in_proj_b", width, heads_, false);
    in_a_ = Linear(b, m + "in_proj_a", width, heads_, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor hidden = without_padding(t, s.hidden, s.arguments.recurrent_mask, older_);
    if (apart_) {
      Projected p;
      Tensor mixed = t.transpose(in_qkv_(play, hidden), 1, 2);
      p.z = t.reshape(in_z_(play, hidden), {hidden->sizes[0], hidden->sizes[1], -1, value_width_});
      p.b = in_b_(play, hidden);
      p.a = in_a_(play, hidden);
      keep_end(t, s, mixed);
      mixed = conv_(play, mixed);
      return attend(play, s, p, t.transpose(mixed, 1, 2));
    }
    const Tensor qkvz = in_qkvz_(play, hidden);
    const Tensor ba = in_ba_(play, hidden);
    Projected p = ordered(t, qkvz, ba);
    Tensor mixed = mixed_of(t, p);
    mixed = conv_(play, mixed);
    mixed = t.transpose(mixed, 1, 2);
    for (Tensor* x : {&p.query, &p.key, &p.value}) x->reset();
    attend(play, s, p, mixed);
  }

 private:
  struct Projected {
    Tensor query{};
    Tensor key{};
    Tensor value{};
    Tensor z{};
    Tensor b{};
    Tensor a{};
  };

  void attend(Play& play, Stream& s, const Projected& p, const Tensor& mixed) const {
    Torch& t = play.torch;
    DeltaInputs in = heads_of(t, mixed);
    in.beta = t.sigmoid(p.b);
    in.decay = decay(t, p.a);
    Tensor state;
    KeyValues* const cache = s.arguments.cache.get();
    if (older_) in = with_heads_repeated(t, in);
    if (kernels_) {
      s.hidden = output(play, fla::chunk_gated_delta_rule(t, in), p.z);
      return;
    }
    const auto rule = older_ ? chunk_delta_rule_by_rows : chunk_delta_rule;
    Tensor out = rule(t, in, cache == nullptr ? nullptr : &state);
    if (cache != nullptr) cache->add(state);  // update_recurrent_state: a copy.
    s.hidden = output(play, std::move(out), p.z);
  }

  Tensor normed(Play& play, const Tensor& out, const Tensor& z) const {
    if (!kernels_) return norm_(play, out, z);
    Restore module(play.torch.recorder.scope.module, norm_.module_id());
    return fla::rms_norm_gated(play.torch, out, z, norm_.weight());
  }

  /// update_conv_state: a copy of the last tokens, as many as the convolution is wide.
  void keep_end(Torch& t, const Stream& s, const Tensor& mixed) const {
    if (!s.arguments.cache) return;
    const std::int64_t kept = std::min(kernel_, mixed->sizes[2]);
    s.arguments.cache->add(t.slice(mixed, 2, mixed->sizes[2] - kept, kept));
  }

  /// fix_query_key_value_ordering
  Projected ordered(Torch& t, const Tensor& qkvz, const Tensor& ba) const {
    const std::int64_t rows = qkvz->sizes[0];
    const std::int64_t length = qkvz->sizes[1];
    const std::int64_t times = heads_ / key_heads_;
    const std::int64_t values = saturating_mul(times, value_width_);
    const Tensor of_heads = t.view(qkvz, {rows, length, key_heads_, -1});
    const Tensor gates = t.view(ba, {rows, length, key_heads_, -1});
    const std::vector<Tensor> parts = t.split_sizes(of_heads, {key_width_, key_width_, values, values}, 3);
    const std::vector<Tensor> two = t.split_sizes(gates, {times, times}, 3);
    Projected out{parts[0], parts[1], {}, {}, {}, {}};
    out.value = t.reshape(parts[2], {rows, length, -1, value_width_});
    out.z = t.reshape(parts[3], {rows, length, -1, value_width_});
    out.b = t.reshape(two[0], {rows, length, heads_});
    out.a = t.reshape(two[1], {rows, length, heads_});
    return out;
  }

  /// Queries, keys and values, which it makes flat, side by side: batch × channels × length.
  Tensor mixed_of(Torch& t, Projected& p) const {
    for (Tensor* x : {&p.query, &p.key, &p.value}) *x = t.reshape(*x, {(*x)->sizes[0], (*x)->sizes[1], -1});
    return t.transpose(t.cat({p.query, p.key, p.value}, 2), 1, 2);
  }

  DeltaInputs heads_of(Torch& t, const Tensor& mixed) const {
    const Dims& sizes = mixed->sizes;
    const std::vector<Tensor> parts = t.split_sizes(mixed, {keys_, keys_, values_}, 2);
    DeltaInputs out;
    out.query = t.reshape(parts[0], {sizes[0], sizes[1], -1, key_width_});
    out.key = t.reshape(parts[1], {sizes[0], sizes[1], -1, key_width_});
    out.value = t.reshape(parts[2], {sizes[0], sizes[1], -1, value_width_});
    return out;
  }

  /// -self.A_log.float().exp() * F.softplus(a.float() + self.dt_bias)
  Tensor decay(Torch& t, const Tensor& a) const {
    const Tensor rate = t.neg(t.exp(t.to(a_log_, DType::fp32)));
    const Tensor step = t.softplus(t.add(t.to(a, DType::fp32), dt_bias_));
    return t.mul(rate, step);
  }

  Tensor output(Play& play, Tensor out, Tensor z) const {
    Torch& t = play.torch;
    const Dims sizes = z->sizes;
    out = t.reshape(out, {-1, value_width_});
    z = t.reshape(z, {-1, value_width_});
    out = normed(play, out, z);
    out = t.reshape(out, {sizes[0], sizes[1], -1});
    return out_proj_(play, out);
  }

  std::int64_t key_heads_;
  std::int64_t heads_;
  std::int64_t key_width_;
  std::int64_t value_width_;
  std::int64_t keys_ = 0;
  std::int64_t values_ = 0;
  std::int64_t kernel_;
  bool apart_;
  bool older_;
  bool kernels_ = false;
  std::int32_t module_;
  CausalConv conv_{};
  Linear in_qkvz_{}, in_ba_{}, in_qkv_{}, in_z_{}, in_b_{}, in_a_{}, out_proj_{};
  Tensor dt_bias_{}, a_log_{};
  NormThenGate norm_{};
};

}  // namespace

extern const OpType gated_delta_net;
const OpType gated_delta_net{"gated_delta_net", make_module<GatedDeltaNet>};

}  // namespace oomplan::estimator::ops
