// Axolotl's LoRA: what it adapts, by which kernels, and what it refuses of it.
#include "adapter.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "../../condition.hpp"
#include "oomplan/core/pattern.hpp"
#include "preference.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

using Axolotl = Arguments;

Origin own(std::string_view where) { return stack_of("axolotl-0.18").origin("axolotl", where); }

bool asks_for(const Draft& draft, std::string_view key) {
  return std::ranges::count(draft.plan.unmodelled, key, &Unmodelled::key) > 0;
}

// The version beside fsdp_config goes before the one in it; without any it is 1.
bool is_sharded_by_fsdp1(const Inputs& inputs) {
  if (!is_sharded(inputs)) return false;
  for (const char* key : {"fsdp_version", "fsdp_config.fsdp_version", "fsdp_config.version"}) {
    const Node* version = find_value(inputs, key);
    if (version != nullptr && is_truthy(*version)) return version->text != "2";
  }
  return true;
}

// lora_target_linear means every linear module but the head, whatever is listed besides.
void plan_targets(const Axolotl& a, Draft& draft, const Document& document) {
  auto& targets = draft.plan.adapter.targets;
  constexpr std::array<std::string_view, 3> beyond{"lm_head", "embed_tokens", "embed_out"};
  targets = setting(a.get<std::vector<std::string>>("lora_target_modules"), {}, own("no modules"));
  if (a.on("lora_target_linear")) {
    for (const std::string& name : targets.value) {
      if (std::ranges::count(beyond, name) > 0) cannot(draft, "LoRA on " + name, "lora_target_modules", targets.origin);
    }
    targets = {{"all-linear"}, a.get<bool>("lora_target_linear").origin};
  } else if (targets.value.empty() && has_adapter(a) && !asks_for(draft, "lora_target_parameters")) {
    miss(draft, document, "lora_targets", {"lora_target_linear", "lora_target_modules"},
         "neither lora_target_linear nor lora_target_modules is given",
         "add lora_target_linear: true or --set lora_target_modules=[…]");
  }
}

// peft takes an expression as text only; of a list each entry is a module's name (tuners_utils.py:
// check_target_module_exists).
void check_expression(const Inputs& inputs, Draft& draft, const Document& document) {
  const auto& targets = draft.plan.adapter.targets;
  const Node* given = find_value(inputs, "lora_target_modules");
  const bool listed = given != nullptr && given->kind != Node::Kind::string;
  if (!listed || !is_expression(targets.value)) return;
  conflict(draft, targets.origin, document,
           "lora_target_modules: what a list holds are modules' names, and none is " + targets.value.front() +
               "; as text it is a regular expression");
}

// Without a word about any of the four, axolotl switches them on (check_auto_enable_lora_kernels).
bool kernels_by_default(const Axolotl& a, const Inputs& inputs, const Draft& draft) {
  constexpr std::array<std::string_view, 4> keys{"lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel",
                                                 "lora_embedding_kernel"};
  const bool said = std::ranges::any_of(keys, [&](std::string_view key) { return a.get<bool>(key).value.has_value(); });
  const bool lora = is(a.get<std::string>("adapter"), std::string("lora"));
  return !said && !is_sharded_by_fsdp1(inputs) && !a.on("trust_remote_code") && !is_rl(inputs) &&
         !asks_for(draft, "nvfp4_merge_aware") && !(lora && a.on("load_in_8bit"));
}

// By the names that models of text, and those within multimodal ones, have.
bool covers(const Pattern& pattern, std::span<const std::string_view> group) {
  constexpr std::array<std::string_view, 4> bases{"model.", "model.language_model.", "language_model.model.",
                                                  "model.text_model."};
  Pattern::Budget budget;
  const auto is_module = [&](std::string_view base, std::string_view part, std::string_view name) {
    std::string full(base);
    full.append("layers.0.").append(part).append(name);
    return pattern.matches_all(full, budget).value_or(false);
  };
  return std::ranges::all_of(group, [&](std::string_view name) {
    return std::ranges::any_of(bases, [&](std::string_view base) {
      return is_module(base, "self_attn.", name) || is_module(base, "mlp.", name);
    });
  });
}

// A kernel takes over where every module of its group carries an adapter.
bool covers(const std::vector<std::string>& targets, std::span<const std::string_view> group) {
  if (std::ranges::count(targets, "all-linear") > 0) return true;
  const bool expression = is_expression(targets);
  if (const auto pattern = expression ? Pattern::parse(targets.front()) : std::nullopt) return covers(*pattern, group);
  return std::ranges::all_of(group, [&](std::string_view name) { return std::ranges::count(targets, name) > 0; });
}

Setting<bool> kernel(const Arg<bool>& arg, bool by_default, const TrainingPlan& plan,
                     std::span<const std::string_view> group) {
  Setting<bool> out = setting(arg, by_default, own("check_auto_enable_lora_kernels"));
  const bool covered = covers(plan.adapter.targets.value, group);
  if (out.value && !covered) derive(out.origin, "but not every module that it joins carries LoRA");
  out.value = out.value && plan.adapter.kind.value == Adapter::lora && covered;
  return out;
}

void plan_kernels(const Axolotl& a, const Inputs& inputs, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  constexpr std::array<std::string_view, 3> qkv{"q_proj", "k_proj", "v_proj"};
  constexpr std::array<std::string_view, 1> o{"o_proj"};
  constexpr std::array<std::string_view, 3> mlp{"gate_proj", "up_proj", "down_proj"};
  const bool automatic = kernels_by_default(a, inputs, draft);
  plan.kernels.lora_qkv = kernel(a.get<bool>("lora_qkv_kernel"), automatic, plan, qkv);
  plan.kernels.lora_o = kernel(a.get<bool>("lora_o_kernel"), automatic, plan, o);
  plan.kernels.lora_mlp = kernel(a.get<bool>("lora_mlp_kernel"), automatic, plan, mlp);
}

// peft's LoraConfig; what it is else says what it makes of no weight, or is not played (keys.yaml).
void plan_init(const Inputs& inputs, Draft& draft, const Document& document) {
  const auto found = std::ranges::find_if(
      inputs, [](const Input& input) { return input.key == "peft_init_lora_weights" && is_truthy(*input.value); });
  if (found == inputs.end()) return;
  constexpr std::string_view by_turns = "pissa_niter_";
  const std::string& how = found->value->text;
  const Origin origin = origin_of(*found);
  if (how == "olora") draft.plan.adapter.init = {AdapterInit::olora, origin};
  if (!how.starts_with(by_turns)) return;
  const std::string_view turns = std::string_view(how).substr(by_turns.size());
  const bool is_number = !turns.empty() && turns.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) conflict(draft, origin, document, "peft takes a number behind pissa_niter_");
  draft.plan.adapter.init = {AdapterInit::pissa_niter, origin};
}

void check_int8(const Axolotl& a, Draft& draft, const Document& document) {
  const auto eight = a.get<bool>("load_in_8bit");
  if (!is(eight, true)) return;
  if (is_qlora(a)) conflict(draft, eight.origin, document, "axolotl refuses load_in_8bit with adapter: qlora");
  if (!has_adapter(a)) conflict(draft, eight.origin, document, "load_in_8bit needs adapter: lora");
  for (const std::string_view key : {"lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel"}) {
    if (!a.on(key)) continue;
    conflict(draft, eight.origin, document, "axolotl refuses load_in_8bit with " + std::string(key));
    break;
  }
}

}  // namespace

void cannot(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

bool is_sharded(const Inputs& inputs) {
  return std::ranges::any_of(inputs, [](const Input& input) {
    return (input.key == "fsdp" || input.key == "fsdp_config") && is_truthy(*input.value);
  });
}

bool has_adapter(const Axolotl& a) { return a.get<std::string>("adapter").value.has_value(); }
bool is_qlora(const Axolotl& a) { return is(a.get<std::string>("adapter"), std::string("qlora")); }

void plan_adapter(const Axolotl& a, const Inputs& inputs, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  const auto adapter = a.get<std::string>("adapter");
  if (adapter.value) plan.adapter.kind = {Adapter::lora, adapter.origin};
  if (adapter.value && !a.get<std::int64_t>("lora_r").value) {
    miss(draft, document, "lora_rank", {"lora_r"}, "lora_r is not given", "add lora_r: …");
  }
  const auto autocast = a.get<bool>("peft_autocast_adapter_dtype");
  if (autocast.value) {
    plan.adapter.dtype = {*autocast.value ? AdapterDType::fp32 : AdapterDType::as_base, autocast.origin};
  }
  plan_init(inputs, draft, document);
  plan_targets(a, draft, document);
  check_expression(inputs, draft, document);
  plan_kernels(a, inputs, draft);
}

void check_adapter(const Axolotl& a, Draft& draft, const Document& document) {
  const auto adapter = a.get<std::string>("adapter");
  const auto four = a.get<bool>("load_in_4bit");
  if (is_qlora(a) && !is(four, true)) {
    conflict(draft, adapter.origin, document, "adapter: qlora needs load_in_4bit: true");
  }
  check_int8(a, draft, document);
  if (!is(four, true) || is_qlora(a)) return;
  if (!adapter.value) {
    conflict(draft, four.origin, document, "load_in_4bit needs adapter: qlora");
  } else {
    cannot(draft, "adapter: lora with load_in_4bit, which quantizes nothing and raises the base to fp32",
           "load_in_4bit", four.origin);
  }
}

}  // namespace oomplan::ingestion::axolotl
