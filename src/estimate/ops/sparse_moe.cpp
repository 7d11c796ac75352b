// A mixture of experts in place of an MLP: a router, the experts, and for some families an expert that all tokens share
// (MixtralSparseMoeBlock, Qwen2MoeSparseMoeBlock, Qwen3MoeSparseMoeBlock, OlmoeSparseMoeBlock, GraniteMoeMoE).
#include "modules/experts.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

/// How a family's router makes weights of its logits.
enum class Router {
  softmax,     ///< Mixtral: softmax in fp32, the highest, divided by their sum; in fp32.
  cast_back,   ///< Qwen: so, divided where the config says so, and in the logits' dtype.
  of_highest,  ///< Granite: the highest logits in fp32, their softmax in the hidden states' dtype.
};
constexpr std::array<std::string_view, 3> routers{"softmax", "cast_back", "of_highest"};

class SparseMoe final : public Module {
 public:
  SparseMoe(const Attributes& a, Builder& b)
      : router_(static_cast<Router>(a.choice("router", routers))),
        each_(a.integer("per_token")),
        divided_(a.flag("divided", true)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    gate_ = b.weight(m + a.text("gate", "gate") + ".weight", {a.integer("experts"), width}, Part::router);
    experts_ = Experts(a, b, m + "experts");
    if (a.find("shared") == nullptr) return;
    const std::int64_t shared = a.integer("shared");
    activation_ = find_activation(a.text("activation", "silu"), b);
    shared_gate_ = Linear(b, m + "shared_expert.gate_proj", width, shared, false);
    shared_up_ = Linear(b, m + "shared_expert.up_proj", width, shared, false);
    shared_down_ = Linear(b, m + "shared_expert.down_proj", shared, width, false);
    shared_weight_ = Linear(b, m + "shared_expert_gate", width, 1, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims sizes = s.hidden->sizes;
    const Tensor hidden = t.view(s.hidden, {-1, sizes.back()});
    Tensor shared = activation_ != nullptr ? shared_expert(play, hidden) : Tensor();
    const auto [weights, index] = routed(t, hidden);
    Tensor out = experts_(play, hidden, weights, index);
    if (shared) {
      shared = t.mul(t.sigmoid(shared_weight_(play, hidden)), shared);
      out = t.add(out, shared);
    }
    s.hidden = t.view(out, sizes);
  }

 private:
  Tensor shared_expert(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor gate = activation_(t, shared_gate_(play, x));
    return shared_down_(play, t.mul(gate, shared_up_(play, x)));
  }

  std::pair<Tensor, Tensor> routed(Torch& t, const Tensor& hidden) const {
    const Tensor logits = t.linear(hidden, gate_, {});
    if (router_ == Router::of_highest) {
      const auto [highest, index] = t.topk_last(t.to(logits, DType::fp32), each_);
      return {t.to(t.softmax_last(highest), hidden->dtype), index};
    }
    auto [weights, index] = t.topk_last(t.softmax_last(t.to(logits, DType::fp32)), each_);
    if (divided_) weights = t.div_(weights, t.sum_dim(weights, 1, true));
    if (router_ == Router::cast_back) weights = t.to(weights, logits->dtype);
    return {weights, index};
  }

  Router router_;
  std::int64_t each_;
  bool divided_;
  std::int32_t module_;
  Tensor gate_{};
  Experts experts_{};
  Activation activation_ = nullptr;  ///< Of the shared expert.
  Linear shared_gate_{}, shared_up_{}, shared_down_{}, shared_weight_{};
};

}  // namespace

extern const OpType sparse_moe;
const OpType sparse_moe{"sparse_moe", make_module<SparseMoe>};

}  // namespace oomplan::estimator::ops
