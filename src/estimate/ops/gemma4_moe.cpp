// Gemma4TextDecoderLayer with enable_moe_block: experts beside the MLP, on what the MLP's norm was given, and a router
// that norms and scales that by itself (Gemma4TextRouter).
#include "modules/experts.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class Gemma4Moe final : public Module {
 public:
  Gemma4Moe(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        each_(a.integer("per_token")),
        router_norm_(RmsNorm::unscaled(b, "router.norm")),
        router_scale_(b.weight("router.scale", {width_}, Part::norm)),
        expert_scale_(b.weight("router.per_expert_scale", {a.integer("experts")}, Part::norm)),
        projection_(b, "router.proj", width_, a.integer("experts"), false),
        experts_(a, b, "experts"),
        after_mlp_(b, "post_feedforward_layernorm_1", width_, RmsStyle::raised),
        after_experts_(b, "post_feedforward_layernorm_2", width_, RmsStyle::raised),
        before_experts_(b, "pre_feedforward_layernorm_2", width_, RmsStyle::raised) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor of_mlp = after_mlp_(play, s.hidden);
    const Tensor flat = t.view(s.residual, {-1, width_});
    const Routed routed = route(play, flat);
    s.attn_weights.reset();  // `_` of the block, which is the router's probabilities from here on.
    Tensor of_experts = before_experts_(play, flat);
    of_experts = experts_(play, of_experts, routed);
    of_experts = t.view(of_experts, s.residual->sizes);
    of_experts = after_experts_(play, of_experts);
    s.hidden = t.add(of_mlp, of_experts);
    s.sent.insert(s.sent.end(), {of_mlp, of_experts, routed.logits, routed.weights, routed.index});
  }

 private:
  /// The weights in fp32; in place of the logits the probabilities, which are returned.
  Routed route(Play& play, const Tensor& flat) const {
    Torch& t = play.torch;
    Tensor hidden = router_norm_(play, flat);
    hidden = t.mul_scalar(t.mul(hidden, router_scale_));
    const Tensor scores = projection_(play, hidden);
    Tensor probabilities = t.softmax_last(scores, DType::fp32);
    auto [weights, index] = t.topk_last(probabilities, each_);
    weights = t.div_(weights, t.sum_dim(weights, 1, true));
    const Tensor scales = t.view(t.index_rows(t.view(expert_scale_, {-1, 1}), t.view(index, {-1})), index->sizes);
    weights = t.mul(weights, scales);
    return {std::move(weights), std::move(index), std::move(probabilities)};
  }

  std::int64_t width_;
  std::int64_t each_;
  RmsNorm router_norm_;
  Tensor router_scale_, expert_scale_;
  Linear projection_;
  Experts experts_;
  RmsNorm after_mlp_, after_experts_, before_experts_;
};

}  // namespace

extern const OpType gemma4_moe;
const OpType gemma4_moe{"gemma4_moe", make_module<Gemma4Moe>};

}  // namespace oomplan::estimator::ops
