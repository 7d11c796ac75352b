#include "segments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 9> segment_keys{"module", "layers", "stem",   "kinds",  "before",
                                                       "block",  "after",  "groups", "decodes"};
constexpr std::int64_t most_layers = 10'000;
constexpr std::size_t most_kinds = 255;

const std::vector<Node> no_items;

/// The list under `key`, or nothing where it is none.
const std::vector<Node>& items_of(Fields& fields, std::string_view key) {
  const Node* list = fields.required(key);
  if (list == nullptr) return no_items;
  if (!list->is_sequence()) fields.refuse(*list, shown(key) + " must be a list of ops, not " + shown(*list));
  return list->items;
}

std::int64_t layers_in(Fields& fields, ConfigValues& values) {
  const Node* node = fields.required("layers");
  const std::optional<Attribute> value = node != nullptr ? values.value_of(*node) : std::nullopt;
  const auto* layers = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  if (layers == nullptr) {
    if (fields.errors().empty()) fields.refuse(*node, "\"layers\" must be a whole number");
    return 0;
  }
  if (*layers >= 0 && *layers <= most_layers) return *layers;
  values.refuse(*node,
                "a model has from 0 to " + with_separators(most_layers) + " layers, not " + std::to_string(*layers));
  return 0;
}

/// Of layers that share weights: in how many groups they do.
std::int64_t groups_in(Fields& fields, ConfigValues& values) {
  const Node* node = fields.find("groups");
  if (node == nullptr) return 0;
  const std::optional<Attribute> value = values.value_of(*node);
  const auto* groups = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  if (groups != nullptr && *groups > 0) return *groups;
  if (fields.errors().empty()) fields.refuse(*node, "\"groups\" must be a whole number from 1 on");
  return 0;
}

/// The ops under a key that may be left out.
struct Listed {
  const std::vector<Node>& items;
  std::vector<OpSpec> ops{};
};

Listed listed(Fields& fields, ConfigValues& values, std::string_view key) {
  if (fields.find(key) == nullptr) return {no_items};
  return {items_of(fields, key), ops_in(fields, values, key)};
}

/// Whether `only`, a kind or a list of them, holds for a layer of these kinds.
bool holds(const Node& only, const Kinds& kinds) {
  const auto is_one = [&](const Node& name) { return std::ranges::count(kinds, name.text) > 0; };
  return only.is_sequence() ? std::ranges::all_of(only.items, is_one) : is_one(only);
}

/// The ops that layers of these kinds have: all that name none, and those that name some of them.
std::vector<OpSpec> chosen(const Kinds& kinds, const std::vector<Node>& items, const std::vector<OpSpec>& ops) {
  std::vector<OpSpec> out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Node* only = items[i].find("only");
    if (only == nullptr || holds(*only, kinds)) out.push_back(ops[i]);
  }
  return out;
}

/// Hidden state `at` is the output of the layer before it. That layer is of a kind of its own, so that it is built;
/// nothing is taken where there is no such layer.
void take(std::vector<Kinds>& layers, std::int64_t at, Segment& out) {
  const std::int64_t states = std::ssize(layers) + 1;
  const std::int64_t layer = (at < 0 ? states + at : at) - 1;
  if (layer < 0 || layer >= std::ssize(layers)) return;
  Kinds& kinds = layers[static_cast<std::size_t>(layer)];
  if (std::ranges::count(kinds, "taken") == 0) kinds.emplace_back("taken");
  out.taken = layer;
}

Segment segment_of(Fields& fields, ConfigValues& values, std::string_view module_key, Kinds& all,
                   std::span<const std::int64_t> taken = {}) {
  Segment out;
  out.module = fields.text(module_key);
  out.groups = groups_in(fields, values);
  out.decodes = fields.find("decodes") != nullptr && fields.find("decodes")->as_boolean().value_or(false);
  const std::vector<Node>& stem = items_of(fields, "stem");
  const std::vector<OpSpec> stem_ops = ops_in(fields, values, "stem");
  const std::vector<Node>& items = items_of(fields, "block");
  const std::vector<OpSpec> ops = ops_in(fields, values, "block");
  const Listed before = listed(fields, values, "before");
  const Listed after = listed(fields, values, "after");
  std::vector<Kinds> layers = kinds_of_layers(fields, values, layers_in(fields, values));
  if (!fields.errors().empty()) return out;
  for (const std::int64_t at : taken) take(layers, at, out);
  std::vector<Kinds> seen;
  for (const Kinds& kinds : layers) {
    const auto found = std::ranges::find(seen, kinds);
    out.layers.push_back(static_cast<std::uint8_t>(found - seen.begin()));
    if (found != seen.end()) continue;
    seen.push_back(kinds);
    out.kinds.push_back(chosen(kinds, items, ops));
    out.before.push_back(chosen(kinds, before.items, before.ops));
    out.after.push_back(chosen(kinds, after.items, after.ops));
    if (seen.size() <= most_kinds) continue;
    fields.refuse(*fields.find("kinds"), "layers of more than " + std::to_string(most_kinds) + " kinds");
    break;
  }
  Kinds any;
  for (const Kinds& kinds : seen) any.insert(any.end(), kinds.begin(), kinds.end());
  out.stem = chosen(any, stem, stem_ops);
  all.insert(all.end(), any.begin(), any.end());
  return out;
}

}  // namespace

OpSpec op_of(Fields& fields, ConfigValues& values, const Node& item) {
  Fields step(fields.document(), item, fields.errors());
  OpSpec out{step.text("op"), step.text("module", false), {}};
  for (const Entry& entry : item.entries) {
    if (entry.key == "op" || entry.key == "module" || entry.key == "only") continue;
    if (std::optional<Attribute> value = values.value_of(entry.value))
      out.attributes.emplace_back(entry.key, *std::move(value));
  }
  return out;
}

std::vector<OpSpec> ops_in(Fields& fields, ConfigValues& values, std::string_view key) {
  std::vector<OpSpec> out;
  for (const Node& item : items_of(fields, key)) out.push_back(op_of(fields, values, item));
  return out;
}

std::vector<OpSpec> tail_of(Fields& fields, ConfigValues& values, const Kinds& kinds) {
  const std::vector<OpSpec> ops = ops_in(fields, values, "tail");
  return chosen(kinds, items_of(fields, "tail"), ops);
}

Segment tower_in(Fields& fields, ConfigValues& values, std::span<const std::int64_t> taken) {
  Kinds kinds;
  Segment out = segment_of(fields, values, "block_module", kinds, taken);
  out.tower = true;
  out.hears = fields.find("hears") != nullptr && fields.find("hears")->as_boolean().value_or(false);
  if (fields.errors().empty()) out.tail = tail_of(fields, values, kinds);
  return out;
}

std::vector<Segment> segments_in(Fields& fields, ConfigValues& values, Kinds& kinds) {
  std::vector<Segment> out;
  const Node* body = fields.find("body");
  if (body == nullptr) {
    out.push_back(segment_of(fields, values, "block_module", kinds));
    return out;
  }
  for (const Node& item : body->items) {
    Fields segment(fields.document(), item, fields.errors());
    segment.only(segment_keys);
    out.push_back(segment_of(segment, values, "module", kinds));
  }
  if (out.empty()) fields.refuse(*body, "\"body\" must be a list of segments");
  return out;
}

}  // namespace oomplan::catalog
