#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "adapter_checks.hpp"
#include "loading.hpp"
#include "play.hpp"
#include "repetition.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {

void Builder::own_modules(std::string owner, std::vector<std::string> before) {
  owner_ = std::move(owner);
  modules = std::move(before);
  modules.push_back(owner_);
}

std::int32_t Builder::module_id(const std::string& name) {
  const std::string own = path(name);
  const std::string full = owner_.empty() || own.empty() ? owner_ + own : owner_ + "." + own;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i] == full) return static_cast<std::int32_t>(i);
  }
  modules.push_back(full);
  return static_cast<std::int32_t>(modules.size() - 1);
}

void Builder::add_once(Diagnostic problem) {
  if (std::ranges::count(problems, problem.message, &Diagnostic::message) == 0) problems.push_back(std::move(problem));
}

void Builder::count(std::int64_t elements, bool is_trained) {
  total = saturating_add(total, saturating_mul(elements, repeats));
  if (is_trained) trained = saturating_add(trained, saturating_mul(elements, repeats));
}

std::int64_t Builder::part_of(std::int64_t count, const std::string& name) {
  const std::int64_t ranks = facts.tensor_parallel.ranks;
  if (count % ranks != 0 && problems.empty()) {
    problems.push_back(unmodelled(
        fmt::format("{} ranks that do not share {} equally ({}) are not modelled yet", ranks, path(name), count), {}));
  }
  return count / ranks;
}

Tensor Builder::register_weight(const std::string& name, const Dims& sizes, DType dtype, Part part, bool is_trained) {
  const std::size_t dot = name.rfind('.');
  Restore module(torch.recorder.scope.module, module_id(name.substr(0, dot == std::string::npos ? 0 : dot)));
  Parameter& p =
      parameters.emplace_back(Parameter{path(name), part, sizes, is_trained, repeats, in_layer_norm, {}, {}});
  policy.hold(torch, p, dtype);
  p.whole->subclass = parts > 1;
  const std::int64_t of_row = padding == 0 ? 0 : sizes.product() / sizes[0];
  count(saturating_mul(sizes.product(), parts) - padding * of_row, is_trained);
  return p.whole;
}

Tensor Builder::weight(const std::string& name, const Dims& sizes, Part part) {
  Tensor* const shared = shared_set.empty() ? nullptr : &shared_[shared_set + "." + name];
  if (shared == nullptr) return own_weight(name, sizes, part);
  if (!*shared) *shared = own_weight(name, sizes, part);
  return *shared;
}

Tensor Builder::own_weight(const std::string& name, const Dims& sizes, Part part) {
  const DType dtype = own_dtype.value_or(facts.fp32_norms && is_raised(name) ? DType::fp32 : facts.weights);
  loads(name, saturating_mul(sizes.product(), bytes_of(dtype)));
  const bool packed = facts.unpacks && part == Part::expert && sizes.size() == 3;
  const bool trains = unfrozen(name);
  return packed ? unpacked(name, sizes, dtype, trains) : register_weight(name, sizes, dtype, part, trains);
}

// transformers/integrations/mxfp4.py: _convert_moe_packed_tensors, whose last line copies what it made in the order of
// the checkpoint; two values a byte and a scale for 32 of them, at most so many scales at once.
Tensor Builder::unpacked(const std::string& name, const Dims& sizes, DType dtype, bool trains) {
  constexpr std::int64_t most_scales = 32768 * 1024;
  const std::int64_t values = sizes.product();
  const std::int64_t scales = values / 32;
  const Tensor blocks = torch.empty({values / 2}, DType::uint8, "mxfp4::blocks");
  const Tensor packed_scales = torch.empty({scales}, DType::uint8, "mxfp4::scales");
  const Tensor exponents = torch.empty({scales}, DType::int32, "aten::sub");
  const Tensor out = torch.empty({values}, dtype, "aten::empty");
  {
    const std::int64_t half = std::min(scales, most_scales) * 16;
    const Tensor index = torch.empty({half}, DType::int32, "aten::_to_copy");
    const Tensor wide = torch.empty({half}, DType::int64, "aten::_to_copy");
    const Tensor looked_up = torch.empty({half}, dtype, "aten::index");
  }
  return register_weight(name, sizes, dtype, Part::expert, trains);
}

Tensor Builder::frozen(const std::string& name, const Dims& sizes, Part part) {
  loads(name, saturating_mul(sizes.product(), bytes_of(facts.weights)));
  return register_weight(name, sizes, facts.weights, part, false);
}

namespace {

struct NamedFrozen {
  const Facts& facts;
  bool operator()(const std::string& real) const {
    return std::ranges::any_of(facts.frozen, [&](const auto& part) { return real.find(part) != std::string::npos; });
  }
};

Diagnostic of_some_layers(const std::string& name, const Location& at) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format(
      "what is trained or frozen by name in some layers only, or beside an adapter ({}), is not modelled yet", name);
  d.where = at;
  return d;
}

Diagnostic too_slow(const std::string& name, const Location& at) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("whether a regular expression holds for {} takes too many steps to say", name);
  d.where = at;
  return d;
}

std::string in_layer(std::string name, std::int64_t layer) {
  const std::size_t star = name.find(".*");
  if (star != std::string::npos) name.replace(star + 1, 1, std::to_string(layer));
  return name;
}

}  // namespace

bool Builder::in_layers(const std::function<bool(const std::string&)>& holds, const std::string& name,
                        const Location& asked_at) {
  const bool first = holds(in_layer(name, first_layer));
  for (std::int64_t i = 1; i < repeats && problems.empty(); ++i) {
    if (holds(in_layer(name, first_layer + i * layer_step)) != first)
      problems.push_back(of_some_layers(name, asked_at));
  }
  return first;
}

bool Builder::matched(const Pattern& pattern, bool whole, const std::string& name, const Location& asked_at) {
  std::optional<bool> all;
  for (std::int64_t i = 0; i < repeats && problems.empty(); ++i) {
    const std::string real = in_layer(name, first_layer + i * layer_step);
    const std::optional<bool> here =
        whole ? pattern.matches_all(real, pattern_budget_) : pattern.matches_start(real, pattern_budget_);
    if (!here) problems.push_back(too_slow(name, asked_at));
    if (here && all && all != here) problems.push_back(of_some_layers(name, asked_at));
    all = here;
  }
  return all.value_or(false);
}

// llamafactory/model/adapter.py: _setup_freeze_tuning.
bool Builder::in_trained_layer(const std::string& name) {
  if (layers == 0 || !in_trained_layers(first_layer, layers, facts.trained_layers)) return false;
  const std::string_view module = std::string_view(name).substr(0, name.find('.'));
  if (facts.layer_parts.empty()) return true;
  if (std::ranges::count(facts.layer_parts, module) == 0) return false;
  matched_parts_.emplace(module);
  return true;
}

std::vector<std::string> Builder::unmatched_parts() const {
  std::vector<std::string> out;
  for (const std::string& part : facts.layer_parts)
    if (!matched_parts_.contains(part)) out.push_back(part);
  return out;
}

// Whatever the expressions say of a weight below an adapter, peft calls it by another name where it is adapted.
bool Builder::unfrozen(const std::string& name) {
  if (!facts.frozen.empty() && in_layers(NamedFrozen{facts}, path(name), facts.trained_at)) return false;
  if (facts.trained_layers != 0 && in_trained_layer(name)) return true;
  if (facts.trained.empty()) return facts.trained_layers == 0 && !facts.adapts();
  const std::string full = (facts.adapts() ? "base_model.model." : "") + path(name);
  const bool any = std::ranges::any_of(
      facts.trained, [&](const Pattern& pattern) { return matched(pattern, false, full, facts.trained_at); });
  if (any && facts.adapts() && problems.empty()) problems.push_back(of_some_layers(full, facts.trained_at));
  return any;
}

// peft/tuners/tuners_utils.py: check_target_module_exists, by the first number in a name, unless a target is the whole
// of it. Layers of which some carry adapters and others none are not folded.
bool Builder::in_lora_layer(const std::string& full) const {
  if (facts.lora_layers.empty()) return true;
  const std::size_t end = full.find(".*.");
  if (end == std::string::npos || std::ranges::count(facts.lora_layers, first_layer) == 0) return false;
  const std::string list = "." + full.substr(0, end);
  const auto is_list = [&](const std::string& name) { return list.ends_with("." + name); };
  return facts.lora_layers_pattern.empty() || std::ranges::any_of(facts.lora_layers_pattern, is_list);
}

// Each layer's own name is held against the list (peft/tuners/tuners_utils.py: check_target_module_exists).
bool Builder::targeted_by_layer(const std::string& full) {
  const bool of_layer = in_lora_layer(full);
  const auto named = [&](const std::string& real) {
    const auto is_end = [&](const std::string& target) {
      return real == target || (of_layer && real.ends_with("." + target));
    };
    bool any = false;
    for (const std::string& target : facts.lora_targets) {
      if (!is_end(target)) continue;
      matched_targets_.insert(target);
      any = true;
    }
    return any;
  };
  return in_layers(named, full, facts.lora_targets_at);
}

bool Builder::targeted(const std::string& name, bool in_all_linear) {
  const std::string full = path(name);
  if (facts.lora_names_layers && !facts.lora_pattern) return targeted_by_layer(full);
  if (facts.lora_pattern) {
    const bool here = matched(*facts.lora_pattern, true, full, facts.lora_targets_at);
    if (here) matched_targets_.insert(facts.lora_targets.front());
    return here;
  }
  const bool of_layer = in_lora_layer(full);
  bool any = false;
  const bool left_out = std::ranges::count(facts.unadapted, full.substr(full.rfind('.') + 1)) > 0;
  for (const std::string& target : facts.lora_targets) {
    const bool all = target == "all-linear" && in_all_linear && !left_out;
    if (full != target && (!of_layer || (!all && !full.ends_with("." + target)))) continue;
    matched_targets_.insert(target);
    any = true;
  }
  return any;
}

bool Builder::quantized(const std::string& name) {
  if (!facts.quantized) return false;
  const std::string full = path(name);
  for (const Unquantized& one : facts.unquantized) {
    if (full.ends_with(one.end)) return false;
    for (std::size_t end = full.find('.'); end != std::string::npos; end = full.find('.', end + 1)) {
      if (matched(one.start, true, full.substr(0, end), {})) return false;
      if (matched(one.start, true, full.substr(0, end + 1), {})) return false;
    }
    if (matched(one.start, true, full, {})) return false;
  }
  return true;
}

bool Builder::parameter_targeted(const std::string& name) {
  const std::string full = path(name);
  const auto is_it = [&](const std::string& target) { return full == target || full.ends_with("." + target); };
  return facts.kind == Adapter::lora && std::ranges::any_of(facts.target_parameters, is_it);
}

std::vector<std::string> Builder::unmatched_targets() const {
  std::vector<std::string> out;
  for (const std::string& target : facts.lora_targets) {
    if (!matched_targets_.contains(target)) out.push_back(target);
  }
  return out;
}

void Builder::play_no_adapter(const std::string& name, std::string_view what) {
  if (!facts.adapts() || !targeted(name, false)) return;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("{} on {} ({}) is not modelled yet", title_of(facts.kind), what, path(name));
  d.where = facts.lora_targets_at;
  problems.push_back(std::move(d));
}

Tensor Builder::embedding(const std::string& name, const Dims& sizes, bool adapts) {
  if (!adapts) play_no_adapter(name, "an embedding");
  return weight(name + ".weight", sizes, Part::embedding);
}

Tensor Builder::convolution(const std::string& name, const Dims& sizes, bool adapts) {
  if (!adapts) play_no_adapter(name, "a convolution");
  return weight(name + ".weight", sizes, Part::matrix);
}

Tensor Builder::adapter_weight(const std::string& name, const Dims& sizes, DType dtype) {
  loaded_.push_back({torch.recorder.events.size(), "~", -1, {}});  // After all that has a name of letters.
  const bool frozen = !facts.frozen.empty() && in_layers(NamedFrozen{facts}, path(name), facts.trained_at);
  const bool trains = !frozen && (facts.trained.empty() || unfrozen(name + ".default.weight"));
  Tensor p = register_weight(name + ".weight", sizes, dtype, Part::adapter, trains);
  of_adapters_.insert(parameters.back().held->storage);
  of_adapters_.insert(p->storage);
  return p;
}

Tensor Builder::while_adapting(const Dims& sizes, DType dtype, const char* op) {
  Tensor out = torch.empty(sizes, dtype, op);
  of_adapters_.insert(out->storage);
  return out;
}

Tensor Builder::saved_copy(const std::string& name, const std::string& weight, const Dims& sizes, Part part) {
  const std::string full = path(name);
  bool any = false;
  for (const std::string& module : facts.modules_to_save) {
    if (!full.ends_with(module)) continue;  // peft/utils/other.py: _set_trainable.
    saved_modules_.insert(module);
    any = true;
  }
  if (!any) return {};
  loaded_.push_back({torch.recorder.events.size(), "~", -1, {}});
  const DType original = facts.kbit_upcast ? DType::fp32 : facts.weights;
  Tensor p = register_weight(name + "." + weight, sizes, facts.saved_dtype.value_or(original), part, true);
  of_copies_.insert(parameters.back().held->storage);
  of_copies_.insert(p->storage);
  return p;
}

std::vector<std::string> Builder::unsaved_modules() const {
  std::vector<std::string> out;
  for (const std::string& module : facts.modules_to_save) {
    if (!saved_modules_.contains(module)) out.push_back(module);
  }
  return out;
}

Tensor Builder::quantized_storage(const Dims& sizes, DType dtype) {
  Tensor p = torch.parameter(sizes, dtype, false);
  parameters.push_back({{}, Part::matrix, sizes, false, repeats, false, p, p});
  return p;
}

void Builder::packed_weight(std::int64_t bytes) {
  if (!facts.packed_as) {
    quantized_storage({bytes}, DType::uint8);
    return;
  }
  packed_part({divided_up(bytes, bytes_of(*facts.packed_as)), 1}, *facts.packed_as);
}

Tensor Builder::packed_part(const Dims& sizes, DType dtype) {
  Parameter& p = parameters.emplace_back(Parameter{{}, Part::matrix, sizes, false, repeats, false, {}, {}});
  policy.hold(torch, p, dtype);
  return p.whole;
}

void Attributes::problem(std::string_view name, std::string_view expected) const {
  Diagnostic d;
  d.code = "estimate/bad-architecture";
  d.message = fmt::format("{}: op {}: attribute {}: expected {}", builder_.architecture.name, spec_.op, name, expected);
  builder_.problems.push_back(std::move(d));
}

void Attributes::unmodelled(std::string_view feature) const {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("{}: {} are not modelled yet", builder_.architecture.source, feature);
  builder_.add_once(std::move(d));
}

std::int64_t Attributes::integer(std::string_view name) const {
  const Attribute* a = spec_.find(name);
  const auto* v = a == nullptr ? nullptr : std::get_if<std::int64_t>(a);
  if (v != nullptr && *v > 0) return *v;
  problem(name, "a positive integer");
  return 1;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  return spec_.find(name) == nullptr ? otherwise : integer(name);
}

std::int64_t Attributes::count(std::string_view name) const {
  const Attribute* a = spec_.find(name);
  const auto* v = a == nullptr ? nullptr : std::get_if<std::int64_t>(a);
  return v == nullptr ? 0 : std::max<std::int64_t>(*v, 0);
}

std::int64_t Attributes::quotient(std::string_view name, std::string_view by) const {
  const std::int64_t whole = integer(name);
  const std::int64_t parts = integer(by);
  if (whole % parts == 0) return whole / parts;
  problem(by, fmt::format("a divisor of {} ({}), not {}", name, whole, parts));
  return 1;
}

double Attributes::number(std::string_view name, double otherwise) const {
  const Attribute* a = spec_.find(name);
  if (a == nullptr) return otherwise;
  if (const auto* d = std::get_if<double>(a)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(a)) return static_cast<double>(*i);
  problem(name, "a number");
  return otherwise;
}

bool Attributes::flag(std::string_view name, bool otherwise) const {
  const Attribute* a = spec_.find(name);
  if (a == nullptr) return otherwise;
  if (const auto* b = std::get_if<bool>(a)) return *b;
  problem(name, "true or false");
  return otherwise;
}

std::size_t Attributes::choice(std::string_view name, std::span<const std::string_view> names) const {
  const std::string given = text(name, names.front());
  const auto found = std::ranges::find(names, given);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  problem(name, fmt::format("one of {}", fmt::join(names, ", ")));
  return 0;
}

Span Attributes::span(std::string_view name) const { return static_cast<Span>(choice(name, span_names)); }

std::string Attributes::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = spec_.find(name);
  if (a == nullptr) return std::string(otherwise);
  if (const auto* s = std::get_if<std::string>(a)) return *s;
  problem(name, "a name");
  return std::string(otherwise);
}

}  // namespace oomplan::estimator
