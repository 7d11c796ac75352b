// A mixture of experts in place of an MLP: a router, the experts, and for some families an expert that all tokens share
// (MixtralSparseMoeBlock, Qwen2MoeSparseMoeBlock, GraniteMoeMoE, DeepseekV3MoE and their like).
#include <optional>

#include "modules/expert_layers.hpp"
#include "modules/experts.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

/// When the shared expert runs, and what becomes of its result.
enum class Shared {
  first_weighted,  ///< Qwen: before the router, times the sigmoid of a gate of its own.
  first,           ///< ERNIE 4.5, HunYuan: before the router, added.
  second,          ///< Afmoe: after the router, and the experts' result added to its.
  last,            ///< DeepSeek: after the experts.
};
constexpr std::array<std::string_view, 4> shared_names{"first_weighted", "first", "second", "last"};

/// config.shared_expert_combination_strategy
constexpr std::array<std::string_view, 2> combinations{"sum", "average"};

class SparseMoe final : public Module {
 public:
  SparseMoe(const Attributes& a, Builder& b)
      : jitter_(a.number("jitter", 0.0)),
        shared_at_(static_cast<Shared>(a.choice("shared_at", shared_names))),
        flat_(a.flag("flat", shared_at_ != Shared::last)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    router_ = Router(a, b, m + a.text("gate", "gate"));
    if (a.find(older_code) != nullptr) {
      layers_.emplace(a, b, m + "experts");
    } else {
      experts_ = Experts(a, b, m + "experts");
    }
    if (a.find("expert_width") != nullptr) {
      const std::int64_t latent = a.integer("expert_width");
      into_latent_ = Linear(b, m + "fc1_latent_proj", a.integer("width"), latent, a.flag("shared_bias", false));
      out_of_latent_ = Linear(b, m + "fc2_latent_proj", latent, a.integer("width"), a.flag("shared_bias", false));
      latent_ = true;
    }
    if (a.count("shared") == 0) return;
    const std::string name = m + a.text("shared_name", "shared_expert");
    const std::int64_t width = a.integer("width");
    const std::int64_t shared = a.integer("shared");
    const bool bias = a.flag("shared_bias", false);
    activation_ = find_activation(a.text("activation", "silu"), b);
    gated_ = a.flag("gated", true);
    averaged_ = a.choice("combined", combinations) == 1;
    if (gated_) shared_gate_ = Linear(b, name + ".gate_proj", width, shared, bias);
    shared_up_ = Linear(b, name + ".up_proj", width, shared, bias);
    shared_down_ = Linear(b, name + ".down_proj", shared, width, bias);
    if (shared_at_ == Shared::first_weighted) shared_weight_ = Linear(b, m + "shared_expert_gate", width, 1, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims sizes = s.hidden->sizes;
    const bool noisy = jitter_ > 0.0 && t.training;
    if (noisy) s.hidden = noised(t, s.hidden, false);
    if (noisy) s.hidden = noised(t, s.hidden, true);
    const Tensor hidden = t.view(s.hidden, {-1, sizes.back()});
    const bool first = shared_at_ == Shared::first || (shared_at_ == Shared::first_weighted && !layers_);
    Tensor shared = activation_ != nullptr && first ? shared_expert(play, hidden) : Tensor();
    const Routed routed = router_(play, flat_ ? hidden : t.view(s.hidden, {-1, sizes.back()}));
    if (s.arguments.router_logits) s.arguments.router_logits->take(routed.logits, routed.index->sizes.back());
    if (activation_ != nullptr && shared_at_ == Shared::second) shared = shared_expert(play, hidden);
    Tensor out = made(play, hidden, routed);
    if (activation_ != nullptr && !shared && shared_at_ == Shared::first_weighted) shared = shared_expert(play, hidden);
    if (!flat_) out = t.view(out, sizes);
    if (activation_ != nullptr) out = with_shared(play, flat_ ? hidden : s.hidden, shared, out);
    s.hidden = t.view(out, sizes);
  }

 private:
  Tensor made(Play& play, const Tensor& hidden, const Routed& routed) const {
    if (layers_) return (*layers_)(play, hidden, routed);
    if (!latent_) return experts_(play, hidden, routed);
    return out_of_latent_(play, experts_(play, into_latent_(play, hidden), routed));
  }

  /// hidden_states *= noise, in place: of the block, and then of the router, through a view (autograd's CopySlices).
  static Tensor noised(Torch& t, const Tensor& x, bool through_view) {
    const BackwardFn plain = [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.mul(g.in[0], torch.unpack(n, 0)); };
    const BackwardFn slices = [](Torch& torch, Node& n, Grads& g) {
      const Tensor result = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::new_empty_strided");
      const Tensor copy = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::clone");
      const Tensor product = torch.mul(copy, torch.unpack(n, 0));
      g.out[0] = result;
    };
    NodeRef node = t.record(through_view ? "CopySlices" : "MulBackward0", {&x}, through_view ? slices : plain);
    t.save(node, 0, t.pointwise({&x}, x->dtype, "aten::empty_like"));
    return t.attach(node, x);
  }

  Tensor shared_expert(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    if (!gated_) return shared_down_(play, activation_(t, shared_up_(play, x)));
    const Tensor gate = activation_(t, shared_gate_(play, x));
    return shared_down_(play, t.mul(gate, shared_up_(play, x)));
  }

  Tensor with_shared(Play& play, const Tensor& hidden, Tensor& shared, const Tensor& out) const {
    Torch& t = play.torch;
    if (shared_at_ == Shared::last) {
      const Tensor last = shared_expert(play, hidden);
      const Tensor sum = t.add(out, last);
      return averaged_ ? t.div_scalar(sum) : sum;
    }
    if (shared_at_ == Shared::first_weighted) {
      shared = t.mul(t.sigmoid(shared_weight_(play, hidden)), shared);
    }
    return t.add(out, shared);
  }

  double jitter_;  ///< Of the inputs, as PhiMoE's.
  Shared shared_at_;
  bool flat_;  ///< The router and the shared expert see the rows of tokens that the experts do, else each its own view.
  std::int32_t module_;
  Router router_{};
  Experts experts_{};
  std::optional<ExpertLayers> layers_;  ///< Of older code, in place of them; their shared expert comes after them.
  Activation activation_ = nullptr;     ///< Of the shared expert.
  bool gated_ = true;                   ///< So is the shared expert.
  bool averaged_ = false;               ///< What both kinds of expert made is halved.
  bool latent_ = false;  ///< The experts' rows are of another width (NemotronHMoE), between two projections.
  Linear shared_gate_{}, shared_up_{}, shared_down_{}, shared_weight_{}, into_latent_{}, out_of_latent_{};
};

}  // namespace

extern const OpType sparse_moe;
const OpType sparse_moe{"sparse_moe", make_module<SparseMoe>, CalledBy::position};

}  // namespace oomplan::estimator::ops
