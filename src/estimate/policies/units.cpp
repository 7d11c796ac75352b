#include "policies/units.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace oomplan::estimator {
namespace {

std::string_view above(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view module_of(const Parameter& p) { return above(p.name); }

/// The module of the first (or last) parameter of that part outside the blocks; empty where there is none.
template <class Iterator>
std::string_view module_with(Iterator begin, Iterator end, Part part) {
  const Iterator at = std::find_if(begin, end, [&](const Parameter& p) { return p.part == part && p.layer() < 0; });
  return at == end ? std::string_view() : module_of(*at);
}

std::string_view first_with(const Parameters& of, Part part) { return module_with(of.begin(), of.end(), part); }

std::string_view last_with(const Parameters& of, Part part) { return module_with(of.rbegin(), of.rend(), part); }

/// accelerate's _find_final_norm looks among the base model's children; that of a PeftModel is the model with its head.
std::string_view final_norm(const Parameters& parameters) {
  const bool adapted = std::ranges::count(parameters, Part::adapter, &Parameter::part) > 0;
  const std::string_view norm = last_with(parameters, Part::norm);
  return adapted || std::ranges::count(norm, '.') != 1 ? std::string_view() : norm;
}

std::size_t blocks_of(const Parameters& parameters) {
  std::size_t blocks = 0;
  for (const Parameter& p : parameters) blocks = std::max(blocks, static_cast<std::size_t>(p.layer() + 1));
  return blocks;
}

/// fsdp2_prepare_model: where the head is the embedding, that is of the norm's unit.
void carve(const Parameters& parameters, ShardUnits kind, Units& out) {
  const std::string_view embedding = first_with(parameters, Part::embedding);
  const std::string_view head = first_with(parameters, Part::head);
  const std::string_view norm =
      kind == ShardUnits::torchtitan ? last_with(parameters, Part::norm) : final_norm(parameters);
  const std::size_t last = blocks_of(parameters) + 2;
  out.tail = last;
  out.of_site = {head.empty() ? last : last - 1, norm.empty() ? 0 : last, last};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].layer() >= 0) continue;
    const std::string_view module = module_of(parameters[i]);
    if (!norm.empty() && module == norm) out.of_parameter[i] = last;
    if (module == embedding) out.of_parameter[i] = out.at(Site::embedding);
    if (!head.empty() && module == head) out.of_parameter[i] = last;
  }
}

/// Each of the matrices of a module's LoRA is a unit of its own, behind all others' numbers; those of a parameter's, as
/// experts' are (peft's ParamWrapper), are of the block.
void part_adapters(const Parameters& parameters, Units& out) {
  std::unordered_set<std::string_view> names;
  for (const Parameter& p : parameters) names.insert(p.name);
  std::size_t next = blocks_of(parameters) + 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (p.part == Part::adapter && !names.contains(above(module_of(p)))) out.of_parameter[i] = next++;
  }
}

/// The embedding is a unit where the config says that the head is another.
void part_embedding(const Parameters& parameters, Units& out) {
  if (first_with(parameters, Part::head).empty()) return;
  const std::string_view embedding = first_with(parameters, Part::embedding);
  const std::size_t number = *std::ranges::max_element(out.of_parameter) + 1;
  out.of_site[static_cast<std::size_t>(Site::embedding)] = number;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].layer() < 0 && module_of(parameters[i]) == embedding) out.of_parameter[i] = number;
  }
}

std::optional<Site> site_of(Part part) {
  switch (part) {
    case Part::embedding:
      return Site::embedding;
    case Part::norm:
      return Site::norm;
    case Part::head:
      return Site::head;
    default:
      return std::nullopt;
  }
}

/// A name that no module has asks for nothing (torchtune: training/_distributed.py, get_shard_conditions).
void part_modules(const Parameters& parameters, const std::vector<std::string>& modules, Units& out) {
  std::size_t next = *std::ranges::max_element(out.order) + 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    const std::optional<Site> site = p.layer() < 0 ? site_of(p.part) : std::nullopt;
    if (!site || std::ranges::count(modules, module_of(p)) == 0) continue;
    std::size_t& number = out.of_site[static_cast<std::size_t>(*site)];
    if (number == 0) {
      number = next++;
      out.order.insert(*site == Site::embedding ? out.order.begin() + 1 : out.order.end(), number);
    }
    out.of_parameter[i] = number;
  }
}

/// The units of a block's modules come behind it.
void order_blocks(const Parameters& parameters, Units& out) {
  const std::size_t blocks = blocks_of(parameters);
  for (std::size_t block = 1; block <= blocks; ++block) {
    out.order.push_back(block);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const bool within = static_cast<std::size_t>(parameters[i].layer() + 1) == block;
      if (within && out.of_parameter[i] > blocks) out.order.push_back(out.of_parameter[i]);
    }
  }
}

}  // namespace

Units one_unit(const Parameters& parameters) {
  Units out;
  out.of_parameter.assign(parameters.size(), 0);
  out.order = {0};
  return out;
}

Units units_of(const Parameters& parameters, ShardUnits kind, const std::vector<std::string>& modules) {
  Units out;
  for (const Parameter& p : parameters) out.of_parameter.push_back(static_cast<std::size_t>(p.layer() + 1));
  if (has_tail_unit(kind)) carve(parameters, kind, out);
  const bool own = kind == ShardUnits::llamafactory;
  if (kind == ShardUnits::adapters || own) part_adapters(parameters, out);
  if (own) part_embedding(parameters, out);
  out.order = {0};
  const std::size_t embedding = out.at(Site::embedding);
  if (embedding != 0) out.order.push_back(embedding);
  order_blocks(parameters, out);
  if (out.tail != 0 && out.tail != embedding) out.order.push_back(out.tail);
  if (!has_tail_unit(kind)) part_modules(parameters, modules, out);
  return out;
}

}  // namespace oomplan::estimator
