#include "optimizer_file.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "errors.hpp"
#include "fields.hpp"
#include "oomplan/catalog/catalog.hpp"

namespace oomplan {
namespace catalog {
namespace {

constexpr std::array<std::string_view, 3> file_keys{"title", "source", "groups"};
constexpr std::array<std::string_view, 7> group_keys{"parts", "except", "rules", "at_once", "each", "kept", "code"};
constexpr std::array<std::string_view, 6> rule_keys{"below", "uneven", "fp32_embeddings", "once", "states", "step"};
constexpr std::array<std::string_view, 3> sizes_keys{"values", "blocks", "times"};
constexpr std::array<std::string_view, 4> state_keys{"op", "sizes", "dtype", "paged_from"};

/// The mappings in the list `key`, each read by `read`.
template <class T, class Read>
std::vector<T> list_of(Fields& fields, std::string_view key, Read read) {
  std::vector<T> out;
  const Node* node = fields.find(key);
  if (node == nullptr) return out;
  if (!node->is_sequence()) fields.refuse(*node, shown(key) + " must be a list, not " + shown(*node));
  for (const Node& item : node->items) {
    Fields of_item(fields.document(), item, fields.errors());
    out.push_back(read(of_item));
  }
  return out;
}

void read_sizes(Fields& fields, OptimizerState& state) {
  using Sizes = OptimizerState::Sizes;
  const Node* node = fields.find("sizes");
  if (node == nullptr) return;
  if (node->is_mapping()) {
    Fields sizes(fields.document(), *node, fields.errors());
    sizes.only(sizes_keys);
    state.times = sizes.count("times", false).value_or(1);
    const auto values = sizes.count("values", false);
    const auto blocks = sizes.count("blocks", false);
    state.sizes = values ? Sizes::values : blocks ? Sizes::blocks : Sizes::parameter;
    state.count = values ? *values : blocks.value_or(0);
  } else if (node->text == "scalar") {
    state.sizes = Sizes::scalar;
  } else {
    fields.refuse(*node, "sizes must be scalar, {values: N}, {blocks: N} or {times: N}, not " + shown(*node));
  }
}

OptimizerState read_state(Fields& fields) {
  fields.only(state_keys);
  OptimizerState state;
  state.op = fields.text("op");
  read_sizes(fields, state);
  const std::string dtype = fields.text("dtype", false);
  if (!dtype.empty()) state.dtype = parse_dtype(dtype);
  if (!dtype.empty() && !state.dtype) fields.refuse(*fields.find("dtype"), shown(dtype) + " is no dtype");
  state.paged_from = fields.count("paged_from", false).value_or(0);
  return state;
}

OptimizerRule read_rule(Fields& fields) {
  fields.only(rule_keys);
  OptimizerRule rule;
  rule.below = fields.count("below", false).value_or(0);
  rule.uneven = fields.count("uneven", false).value_or(0);
  if (const Node* node = fields.find("fp32_embeddings")) rule.fp32_embeddings = node->as_boolean().value_or(false);
  rule.once = list_of<OptimizerState>(fields, "once", read_state);
  rule.states = list_of<OptimizerState>(fields, "states", read_state);
  rule.step = list_of<OptimizerState>(fields, "step", read_state);
  return rule;
}

std::vector<Part> read_parts(Fields& fields) {
  std::vector<Part> parts;
  for (const std::string& name : fields.texts("parts")) {
    const auto found = std::ranges::find(part_names, name);
    if (found == part_names.end()) fields.refuse(*fields.find("parts"), shown(name) + " is no part of a model");
    parts.push_back(static_cast<Part>(found - part_names.begin()));
  }
  return parts;
}

OptimizerGroup read_group(Fields& fields) {
  fields.only(group_keys);
  OptimizerGroup group;
  group.parts = read_parts(fields);
  group.except = fields.texts("except");
  group.rules = list_of<OptimizerRule>(fields, "rules", read_rule);
  group.at_once = fields.texts("at_once");
  group.each = fields.texts("each");
  group.kept = fields.text("kept", false);
  group.code = fields.text("code", false);
  return group;
}

}  // namespace

Result<OptimizerFile> read_optimizer(const DataFile& file) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(file_keys);
  OptimizerFile out;
  out.name = std::string(file.name);
  out.title = fields.text("title");
  out.source = fields.text("source");
  out.groups = list_of<OptimizerGroup>(fields, "groups", read_group);
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace catalog

const OptimizerFile* find_optimizer(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, OptimizerFile, std::less<>> known;
  const std::scoped_lock lock(mutex);
  const auto at = known.find(name);
  if (at != known.end()) return &at->second;
  const auto file = catalog::find_file("optimizers", name, {});
  auto read = file ? catalog::read_optimizer(*file) : Result<OptimizerFile>(Diagnostics{});
  if (!read) return nullptr;
  return &known.emplace(name, std::move(*read)).first->second;
}

std::vector<std::string> known_optimizers() {
  std::vector<std::string> names;
  for (const catalog::DataFile& file : catalog::files_in("optimizers", {})) names.emplace_back(file.name);
  return names;
}

}  // namespace oomplan
