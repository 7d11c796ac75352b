#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "play.hpp"

namespace oomplan::estimator {

std::int32_t Builder::module_id(const std::string& name) {
  const std::string full = path(name);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i] == full) return static_cast<std::int32_t>(i);
  }
  modules.push_back(full);
  return static_cast<std::int32_t>(modules.size() - 1);
}

void Builder::count(std::int64_t elements, bool is_trained) {
  total = saturating_add(total, saturating_mul(elements, repeats));
  if (is_trained) trained = saturating_add(trained, saturating_mul(elements, repeats));
}

Tensor Builder::register_weight(const std::string& name, const Dims& sizes, DType dtype, bool is_trained) {
  const std::size_t dot = name.rfind('.');
  Restore module(torch.recorder.scope.module, module_id(name.substr(0, dot == std::string::npos ? 0 : dot)));
  Tensor p = torch.parameter(sizes, dtype, is_trained);
  parameters.push_back(p);
  count(sizes.product(), is_trained);
  return p;
}

Tensor Builder::weight(const std::string& name, const Dims& sizes) {
  // Axolotl's convert_embedding_modules_dtype and its like go by the module's name.
  const bool named = name.find("norm") != std::string::npos || name.find("embed_tokens") != std::string::npos ||
                     name.find("lm_head") != std::string::npos;
  const Tensor p = register_weight(name, sizes, facts.fp32_norms && named ? DType::fp32 : facts.kept, !facts.lora);
  if (named) raised_.push_back(p);
  return p;
}

void Builder::cast(const Tensor& weight, DType dtype) {
  Restore layer(torch.recorder.scope.layer, weight->layer);
  Restore module(torch.recorder.scope.module, weight->module);
  const Tensor made = torch.parameter(weight->sizes, dtype, false);
  std::swap(weight->storage, made->storage);
  weight->dtype = dtype;
}

void Builder::finish_loading() {
  if (facts.fp32_while_loading && facts.kept != DType::fp32) {
    for (const DType dtype : {DType::fp32, facts.kept}) {
      for (const Tensor& weight : raised_) cast(weight, dtype);
    }
    torch.recorder.empty_cache();
  }
  // peft adds the adapters to a model that is there.
  std::ranges::stable_partition(torch.recorder.events,
                                [&](const Event& e) { return !of_adapters_.contains(e.storage); });
}

bool Builder::targeted(const std::string& name, bool in_all_linear) {
  const std::string full = path(name);
  bool any = false;
  for (const std::string& target : facts.lora_targets) {
    const bool all = target == "all-linear" && in_all_linear;
    if (!all && full != target && !full.ends_with("." + target)) continue;
    matched_targets_.insert(target);
    any = true;
  }
  return any;
}

std::vector<std::string> Builder::unmatched_targets() const {
  std::vector<std::string> out;
  for (const std::string& target : facts.lora_targets) {
    if (!matched_targets_.contains(target)) out.push_back(target);
  }
  return out;
}

Tensor Builder::embedding(const std::string& name, const Dims& sizes) {
  if (facts.lora && targeted(name, false)) {
    Diagnostic d;
    d.code = "estimate/unmodelled";
    d.message = fmt::format("LoRA on an embedding ({}) is not modelled yet", path(name));
    d.where = facts.lora_targets_at;
    problems.push_back(std::move(d));
  }
  Tensor p = weight(name + ".weight", sizes);
  p->embedding = true;
  return p;
}

Tensor Builder::adapter_weight(const std::string& name, const Dims& sizes, DType dtype) {
  Tensor p = register_weight(name + ".weight", sizes, dtype, true);
  of_adapters_.insert(p->storage);
  return p;
}

Tensor Builder::quantized_storage(const Dims& sizes, DType dtype) {
  Tensor p = torch.parameter(sizes, dtype, false);
  parameters.push_back(p);
  return p;
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
  builder_.problems.push_back(std::move(d));
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

std::string Attributes::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = spec_.find(name);
  if (a == nullptr) return std::string(otherwise);
  if (const auto* s = std::get_if<std::string>(a)) return *s;
  problem(name, "a name");
  return std::string(otherwise);
}

}  // namespace oomplan::estimator
