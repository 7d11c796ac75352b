#include "composite.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/pattern.hpp"

namespace oomplan::ingestion::llamafactory {
namespace {

using Names = std::vector<std::string_view>;

/// _register_composite_model, of those that are modelled, and where the tower's linear layers are that LoRA reaches: an
/// expression, without the projector and what lora_conflict_keys names.
struct Parts {
  std::string_view model_type{};
  Names projector{};
  Names tower{};
  std::string_view adapted{};
};

constexpr std::string_view layers = "vision_tower\\..*layers";
constexpr std::string_view blocks = "visual\\.blocks";
constexpr std::string_view blocks_and_mergers = "visual\\.(?:blocks|deepstack_merger_list)";

/// In the names of all linear layers of these models' blocks, and of nothing else in them.
constexpr std::string_view linear = "(?:proj|qkv|fc1|fc2|shared_expert_gate)";

const std::vector<Parts>& composites() {
  const Names patches{"visual.patch_embed", "visual.blocks"};
  const Names positions{"visual.pos_embed", "visual.patch_embed", "visual.blocks"};
  const Names deep{"visual.pos_embed", "visual.patch_embed", "visual.blocks", "visual.deepstack_merger_list"};
  static const std::vector<Parts> all{
      {"gemma3", {"multi_modal_projector"}, {"vision_tower"}, layers},
      {"llava", {"multi_modal_projector"}, {"vision_tower"}, layers},
      {"qwen2_vl", {"visual.merger"}, patches, blocks},
      {"qwen2_5_vl", {"visual.merger"}, patches, blocks},
      {"qwen3_vl", {"visual.merger"}, deep, blocks_and_mergers},
      {"qwen3_vl_moe", {"visual.merger"}, deep, blocks_and_mergers},
      {"qwen3_5", {"model.visual.merger"}, positions, blocks},
      {"qwen3_5_moe", {"model.visual.merger"}, positions, blocks},
  };
  return all;
}

void add(const Names& names, std::vector<std::string>& out) { out.insert(out.end(), names.begin(), names.end()); }

bool freezes(const TrainingPlan& plan, const Names& part) {
  const auto& names = plan.recipe.frozen.value;
  return std::ranges::any_of(part, [&](std::string_view name) { return std::ranges::count(names, name) > 0; });
}

// get_forbidden_modules
void narrow(TrainingPlan& plan, const Parts& parts) {
  std::vector<std::string> out;
  if (freezes(plan, parts.tower)) add(parts.tower, out);
  if (freezes(plan, parts.projector)) add(parts.projector, out);
  plan.recipe.frozen.value = out;
}

std::string literal(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '.' ? std::string("\\.") : std::string(1, c);
  return out;
}

// patch_target_modules looks for a target anywhere in a module's name. `all` are the last parts of the names of linear
// layers outside the head and the projector (find_all_linear_modules), of the tower too where that is not frozen.
std::string targets_of(const TrainingPlan& plan, const Parts& parts) {
  const std::vector<std::string>& given = plan.adapter.targets.value;
  std::string out = ".*(?:language_model\\.layers";
  if (!freezes(plan, parts.tower)) out += "|" + std::string(parts.adapted);
  out += ")\\..*";
  if (given == std::vector<std::string>{"all-linear"}) return out + std::string(linear) + ".*";
  std::string names;
  for (const std::string& name : given) names += (names.empty() ? "" : "|") + literal(name);
  return out + "(?:" + names + ").*";
}

void adapt(TrainingPlan& plan, const Parts& parts, std::vector<Unmodelled>& gaps) {
  const Origin& asked = plan.adapter.targets.origin;
  if (!freezes(plan, parts.projector)) {
    gaps.push_back({"LoRA beside a projector that is not frozen", "freeze_multi_modal_projector", asked.where});
  }
  const bool plain = std::ranges::all_of(plan.adapter.targets.value, is_module_name);
  if (!plain) return;
  plan.adapter.targets.value = {targets_of(plan, parts)};
  plan.recipe.frozen = {};
}

}  // namespace

std::vector<std::string> frozen_parts(bool tower, bool projector) {
  std::vector<std::string> out;
  for (const Parts& parts : composites()) {
    if (tower) add(parts.tower, out);
    if (projector) add(parts.projector, out);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void plan_parts(TrainingPlan& plan, const Architecture& model) {
  const auto found = std::ranges::find(composites(), model.model_type, &Parts::model_type);
  const bool sees = has_tower(model);
  std::vector<Unmodelled>& gaps = plan.unmodelled;
  if (!sees) {
    plan.recipe.frozen = {};
    return;
  }
  if (found == composites().end()) {
    gaps.push_back(
        {"what llamafactory freezes and adapts of such a model", model.model_type, plan.model.name.origin.where});
    return;
  }
  // data/collator.py: MultiModalDataCollatorForSeq2Seq.
  if (plan.images.count.value == 0) {
    gaps.push_back({"a batch without images, into which LLaMA-Factory puts one of 64 by 64 pixels,", "images",
                    plan.images.count.origin.where});
  }
  plan.images.token_types.value = model.model_type == "gemma3";  // data/mm_plugin.py: Gemma3Plugin.
  narrow(plan, *found);
  if (plan.adapter.kind.value == Adapter::lora) adapt(plan, *found, gaps);
}

}  // namespace oomplan::ingestion::llamafactory
