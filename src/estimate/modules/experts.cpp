#include "modules/experts.hpp"

#include <algorithm>
#include <sstream>

namespace oomplan::estimator {
namespace {

/// peft turns some names of modules into the experts' parameters (`target_parameters`); which, depends on the family.
bool adapted(const Facts& facts, const std::string& names) {
  std::istringstream words(names);
  for (std::string word; words >> word;) {
    const auto names_it = [&](const std::string& target) { return target == word || target.ends_with("." + word); };
    if (facts.lora && std::ranges::any_of(facts.lora_targets, names_it)) return true;
  }
  return false;
}

Tensor grouped_linear(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& offsets) {
  return t.grouped_mm(t.to(x, weight->dtype), weight, offsets);
}

}  // namespace

Experts::Experts(const Attributes& a, Builder& b, const std::string& name)
    : count_(a.integer("experts")),
      inner_(a.integer("inner")),
      activation_(find_activation(a.text("activation", "silu"), b)),
      module_(b.module_id(name)) {
  const std::int64_t width = a.integer("width");
  gate_up_ = b.weight(name + ".gate_up_proj", {count_, saturating_mul(2, inner_), width}, Part::expert);
  down_ = b.weight(name + ".down_proj", {count_, width, inner_}, Part::expert);
  if (adapted(b.facts, a.text("adapted_by", ""))) a.unmodelled("LoRA adapters of a mixture's experts");
}

Tensor Experts::gated(Torch& t, const Tensor& both) const {
  const std::vector<Tensor> parts = t.split(both, inner_, 1);
  return t.mul(activation_(t, parts[0]), parts[1]);
}

Tensor Experts::operator()(Play& play, const Tensor& hidden, const Tensor& weights, const Tensor& index) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  const std::int64_t tokens = hidden->sizes[0];
  const std::int64_t each = index->sizes[1];
  const std::int64_t all = saturating_mul(tokens, each);
  const Tensor sample_weights = t.view(weights, {all});
  const Tensor expert_ids = t.empty({all}, DType::int64, "aten::sort");
  const Tensor perm = t.empty({all}, DType::int64, "aten::sort");
  const Tensor selected = t.index_rows(hidden, t.empty({all}, DType::int64, "aten::floor_divide"));
  const Tensor selected_weights = t.index_rows(sample_weights, perm);
  const Tensor histc_input = t.empty({all}, DType::int32, "aten::_to_copy");
  const Tensor tokens_per_expert = t.empty({count_}, DType::int32, "aten::histc");
  const Tensor offsets = t.empty({count_}, DType::int32, "aten::cumsum");
  Tensor out = grouped_linear(t, selected, gate_up_, offsets);
  out = gated(t, out);
  out = grouped_linear(t, out, down_, offsets);
  Tensor weighted = t.mul(out, t.unsqueeze(selected_weights, 1));
  const Tensor inverse = t.empty({all}, DType::int64, "aten::empty_like");
  t.empty({all}, DType::int64, "aten::arange");
  weighted = t.index_rows(weighted, inverse);
  const Tensor sum = t.sum_dim(t.view(weighted, {tokens, each, -1}), 1, false);
  return t.to(sum, hidden->dtype);
}

}  // namespace oomplan::estimator
