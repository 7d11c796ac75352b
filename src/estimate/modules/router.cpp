#include "modules/router.hpp"

#include <array>
#include <tuple>

#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator {
namespace {

using Style = Router::Style;
constexpr std::array<std::string_view, 14> styles{"softmax",
                                                  "cast_back",
                                                  "of_highest",
                                                  "sigmoid_groups",
                                                  "softmax_groups",
                                                  "greedy",
                                                  "group_limited_greedy",
                                                  "corrected_softmax",
                                                  "corrected_sigmoid",
                                                  "scaled_sigmoid",
                                                  "linear",
                                                  "sparse_mixer",
                                                  "highest",
                                                  "sigmoid"};

/// Whether scores get a correction; of "sigmoid" the config says it.
bool is_corrected(Style style, bool asked) {
  if (style == Style::sigmoid) return asked;
  return style == Style::sigmoid_groups || style == Style::corrected_softmax || style == Style::corrected_sigmoid ||
         style == Style::scaled_sigmoid;
}

/// config.expert_selection_fn
constexpr std::array<std::string_view, 2> selections{"softmax", "sigmoid"};

/// torch.nn.Linear(…, dtype=torch.float32), torch.zeros(…, dtype=torch.float32)
bool in_fp32(Style style) { return style == Style::corrected_softmax || style == Style::linear; }

/// Whether older code has a linear layer in place of a parameter: where its experts' loop is not DeepSeek's.
bool was_linear(const Attributes& a) {
  return a.find(older_code) != nullptr && a.text("older_experts", "indexed") != "raised";
}

/// top_k_index of what is then let go.
Tensor best(Torch& t, const Tensor& scores, std::int64_t count) { return t.topk_last(scores, count).second; }

}  // namespace

Router::Router(const Attributes& a, Builder& b, const std::string& name)
    : style_(static_cast<Style>(a.choice("router", styles))),
      experts_(a.integer("experts")),
      each_(a.integer("per_token")),
      groups_(a.integer("groups", 1)),
      best_groups_(a.integer("best_groups", 1)),
      divided_(a.flag("divided", true)),
      sigmoids_(a.choice("selection", selections) == 1),
      module_(b.module_id(name)) {
  const std::int64_t width = a.integer("width");
  Restore own(b.own_dtype, in_fp32(style_) ? std::optional(DType::fp32) : b.own_dtype);
  is_linear_ = style_ == Style::linear || was_linear(a);
  casts_to_hidden_ = was_linear(a);
  if (is_linear_) {
    linear_ = Linear(b, name, width, experts_, false);
  } else {
    weight_ = AdaptedParameter(b, name + ".weight", {experts_, width}, Part::router);
  }
  if (style_ == Style::sparse_mixer && b.facts.adapts() && b.targeted(name, true)) {
    a.unmodelled("LoRA on the router, a linear layer that returns a tuple, which peft cannot run,");
  }
  if (!is_corrected(style_, a.flag("corrected", false))) return;
  // In fp32, as from_pretrained keeps it (_keep_in_fp32_modules).
  if (style_ == Style::corrected_softmax || style_ == Style::scaled_sigmoid) {  // A parameter that is not trained.
    correction_ = b.quantized_storage({experts_}, DType::fp32);
    b.count(experts_, false);
    return;
  }
  Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
  correction_ = b.torch.empty({experts_}, DType::fp32, "buffer");
}

Routed Router::operator()(Play& play, const Tensor& hidden) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  if (is_linear_) {
    const Tensor& weight = linear_.weight(play.facts);  // None where it is quantised.
    const bool raises = weight && weight->dtype == DType::fp32;
    const Tensor logits = linear_(play, raises && style_ == Style::linear ? t.to(hidden, DType::fp32) : hidden);
    if (style_ == Style::sparse_mixer) return mixed(t, logits);
    Routed out = of_softmax(t, logits);
    if (casts_to_hidden_) out.weights = t.to(out.weights, hidden->dtype);
    return out;
  }
  AdaptedParameter::Active weight(play, weight_);
  return routed(play, hidden, weight());
}

Tensor Router::fp32_logits(Torch& t, const Tensor& hidden, const Tensor& weight) const {
  const Tensor input = t.to(hidden, DType::fp32);
  return t.linear(input, t.to(weight, DType::fp32), {});
}

Routed Router::routed(Play& play, const Tensor& hidden, const Tensor& weight) const {
  Torch& t = play.torch;
  switch (style_) {
    case Style::of_highest:
      return of_highest(t, hidden, t.linear(hidden, weight, {}));
    case Style::highest:
      return highest(t, hidden, t.linear(hidden, weight, {}));
    case Style::sigmoid_groups:
      return grouped(t, fp32_logits(t, hidden, weight));
    case Style::softmax_groups:
      return grouped(t, t.linear(hidden, weight, {}));
    case Style::scaled:
    case Style::scaled_groups:
      return scaled(t, fp32_logits(t, hidden, weight));
    case Style::sparse_mixer:
      return mixed(t, t.linear(hidden, weight, {}));
    case Style::corrected_softmax:
      return corrected_softmax(t, hidden, weight);
    case Style::corrected_sigmoid:
    case Style::scaled_sigmoid:
      return corrected_sigmoid(t, t.linear(t.to(hidden, weight->dtype), weight, {}));
    case Style::sigmoid:
      return of_sigmoid(t, t.linear(hidden, weight, {}));
    default:
      return of_softmax(t, t.linear(hidden, weight, {}));
  }
}

Routed Router::of_highest(Torch& t, const Tensor& hidden, const Tensor& logits) const {
  const Tensor raised = t.to(logits, DType::fp32);
  const auto [highest, index] = t.topk_last(raised, each_);
  return {t.to(t.softmax_last(highest), hidden->dtype), index, raised};
}

Routed Router::highest(Torch& t, const Tensor& hidden, const Tensor& logits) const {
  auto [weights, index] = t.topk_last(logits, each_);
  weights = sigmoids_ ? t.sigmoid(weights) : t.softmax_last(weights, DType::fp32);
  if (sigmoids_ && divided_) {
    const Tensor sum = t.sum_last(weights, t.autocast() ? DType::fp32 : weights->dtype);
    weights = t.div(weights, t.unsqueeze(sum, 1));
  }
  return {t.to(weights, hidden->dtype), std::move(index), logits};
}

Routed Router::of_softmax(Torch& t, const Tensor& logits) const {
  auto [weights, index] = t.topk_last(t.softmax_last(t.to(logits, DType::fp32)), each_);
  if (divided_) weights = t.div_(weights, t.sum_dim(weights, 1, true));
  if (style_ != Style::softmax && !casts_to_hidden_) weights = t.to(weights, logits->dtype);
  return {std::move(weights), std::move(index), logits};
}

// Autocast takes the sum in fp32 (autocast_mode.cpp: sum sets its dtype).
Routed Router::of_sigmoid(Torch& t, const Tensor& logits) const {
  Tensor weights = t.sigmoid(logits);
  Tensor index;
  if (correction_) {
    index = best(t, t.add(weights, correction_), each_);
    weights = t.gather_last(weights, index);
  } else {
    std::tie(weights, index) = t.topk_last(weights, each_);
  }
  if (divided_) {
    const Tensor sum = t.sum_last(weights, t.autocast() ? DType::fp32 : weights->dtype);
    weights = t.div(weights, t.add_scalar(t.unsqueeze(sum, 1)));
  }
  weights = t.mul_scalar(weights);
  return {std::move(weights), std::move(index), logits};
}

Routed Router::scaled(Torch& t, const Tensor& logits) const {
  Tensor scores = t.softmax_last(logits, DType::fp32);
  if (style_ == Style::scaled_groups) scores = of_best_groups(t, scores, false);
  auto [weights, index] = t.topk_last(scores, each_);
  weights = t.mul_scalar(weights);
  return {std::move(weights), std::move(index), logits};
}

/// The scores with those of all but the best groups filled: by the two highest of a group, or its highest.
Tensor Router::of_best_groups(Torch& t, const Tensor& scores, bool two_highest) const {
  const std::int64_t of_group = experts_ / groups_;
  const Tensor by_group = t.view(scores, {-1, groups_, of_group});
  const Tensor group_scores =
      two_highest ? t.sum_dim(t.topk_last(by_group, 2).first, 2, false) : t.topk_last(by_group, 1).first;
  const Tensor group_index = best(t, t.view(group_scores, {-1, groups_}), best_groups_);
  const Tensor group_mask = t.zeros({scores->sizes[0], groups_}, group_scores->dtype);
  const Tensor score_mask =
      t.reshape(t.expand(t.unsqueeze(group_mask, 2), {scores->sizes[0], groups_, of_group}), {-1, experts_});
  const Tensor chosen = t.pointwise({&score_mask}, DType::boolean, "aten::_to_copy");
  const Tensor others = t.pointwise({&chosen}, DType::boolean, "aten::bitwise_not");
  return t.masked_fill(scores, others);
}

Routed Router::grouped(Torch& t, const Tensor& logits) const {
  const Tensor scores = correction_ ? t.sigmoid(logits) : t.softmax_last(logits);
  Tensor for_choice = correction_ ? t.add(scores, correction_) : scores;
  for_choice = of_best_groups(t, for_choice, true);
  const Tensor index = best(t, for_choice, each_);
  Tensor weights = t.gather_last(scores, index);
  if (divided_) weights = t.div_(weights, t.add_scalar(t.sum_dim(weights, 1, true)));
  weights = t.mul_scalar(weights);
  return {std::move(weights), index, logits};
}

Routed Router::corrected_softmax(Torch& t, const Tensor& hidden, const Tensor& weight) const {
  t.enter_autocast(std::nullopt);
  const Tensor logits = fp32_logits(t, hidden, weight);
  Tensor weights = t.softmax_last(logits, DType::fp32);
  const Tensor index = best(t, t.add(weights, correction_), each_);
  weights = t.gather_last(weights, index);
  weights = t.div(weights, t.clamp(t.sum_dim(weights, 1, true)));
  t.exit_autocast();
  return {t.to(weights, hidden->dtype), index, logits};
}

namespace {

/// PhimoeMultiplier
Tensor multiplier(Torch& t, const Tensor& scores, const Tensor& of_chosen, const Tensor& index, const Tensor& gates) {
  NodeRef node = t.record("PhimoeMultiplierBackward", {&scores}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor factor = torch.unpack(n, 0);
    const Tensor chosen = torch.unpack(n, 1);
    const Tensor masked = torch.unpack(n, 2);
    const Tensor scaled = torch.mul(g.in[0], factor);
    const Tensor negative = torch.mul_scalar(scaled);
    g.out[0] = torch.mul(masked, negative);
  });
  t.save(node, 0, of_chosen);
  t.save(node, 1, index);
  t.save(node, 2, gates);
  return t.attach(node, t.pointwise({&of_chosen}, of_chosen->dtype, "aten::mul"));
}

struct Chosen {
  Tensor weight{};
  Tensor index{};
};

/// One of sparsemixer's two: `left` are the scores without what was chosen before.
Chosen chosen(Torch& t, const Tensor& scores, const Tensor& left) {
  const Tensor far = t.pointwise({&left}, DType::boolean, "aten::gt");
  Tensor gates = t.masked_fill(left, far);
  const Tensor index = t.topk_last(gates, 1).second;
  gates = t.softmax_last(gates);
  const Tensor of_chosen = t.gather_last(gates, index);
  return {multiplier(t, scores, of_chosen, index, gates), index};
}

}  // namespace

/// sparsemixer: two experts, each drawn from those whose scores are near the best.
Routed Router::mixed(Torch& t, const Tensor& scores) const {
  const Chosen first = chosen(t, scores, scores);
  const Tensor left = t.masked_fill(scores, first.index);
  const Chosen second = chosen(t, scores, left);
  const Tensor weights = t.cat({first.weight, second.weight}, 1);
  return {weights, t.empty(weights->sizes, DType::int64, "aten::cat"), scores};
}

Routed Router::corrected_sigmoid(Torch& t, const Tensor& made) const {
  const Tensor logits = style_ == Style::scaled_sigmoid ? t.to(made, DType::fp32) : made;
  const Tensor scores = t.sigmoid(t.to(logits, DType::fp32));
  const Tensor index = best(t, t.add(scores, correction_), each_);
  Tensor weights = t.gather_last(scores, index);
  if (style_ == Style::corrected_sigmoid) {
    weights = t.div_(weights, t.sum_dim(weights, 1, true));
  } else {
    weights = t.div(weights, t.add_scalar(t.sum_dim(weights, 1, true)));
    weights = t.mul_scalar(weights);
  }
  return {std::move(weights), index, logits};
}

}  // namespace oomplan::estimator
