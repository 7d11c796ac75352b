#include "config_values.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 12> declaration_keys{"type",        "required", "default",  "aliases",
                                                            "minimum",     "maximum",  "optional", "divides",
                                                            "multiple_of", "square",   "item",     "alike"};

struct Type {
  std::string_view name;
  std::string_view shown;
  std::optional<Attribute> (*read)(const Node&);
};

template <class T>
std::optional<Attribute> as_attribute(std::optional<T> value) {
  return value ? std::optional<Attribute>(std::move(*value)) : std::nullopt;
}

/// A list of words, or a text of them between bars, in order: "c2p|p2c".
std::optional<Attribute> words(const Node& node) {
  std::vector<std::string> out;
  for (const Node& item : node.items) out.push_back(item.text);
  if (node.kind == Node::Kind::string) {
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
      end = node.text.find('|', at);
      out.push_back(node.text.substr(at, end - at));
    }
  }
  if (out.empty() && !node.is_sequence()) return std::nullopt;
  std::ranges::sort(out);
  std::string text;
  for (const std::string& word : out) text += (text.empty() ? "" : "|") + word;
  return text;
}

/// How many entries a list has, or letters a text.
std::optional<Attribute> length(const Node& node) {
  if (node.kind == Node::Kind::string) return std::optional<Attribute>(std::ssize(node.text));
  return node.is_sequence() ? std::optional<Attribute>(std::ssize(node.items)) : std::nullopt;
}

/// A list of pairs, heights and widths: "336x672|672x336".
std::optional<Attribute> sizes(const Node& node) {
  if (!node.is_sequence()) return std::nullopt;
  std::string text;
  for (const Node& pair : node.items) {
    const bool two = pair.is_sequence() && pair.items.size() == 2;
    const auto height = two ? pair.items[0].as_integer() : std::nullopt;
    const auto width = two ? pair.items[1].as_integer() : std::nullopt;
    if (!height || !width || std::min(*height, *width) < 1 || std::max(*height, *width) > largest_dimension)
      return std::nullopt;
    text += (text.empty() ? "" : "|") + std::to_string(*height) + "x" + std::to_string(*width);
  }
  return text.empty() ? std::nullopt : std::optional<Attribute>(text);
}

/// A list of whole numbers: "-2|-5|6".
std::optional<Attribute> numbers(const Node& node) {
  if (!node.is_sequence()) return std::nullopt;
  std::string text;
  for (const Node& item : node.items) {
    const std::optional<std::int64_t> number = item.as_integer();
    if (!number || *number > largest_dimension || *number < -largest_dimension) return std::nullopt;
    text += (text.empty() ? "" : "|") + std::to_string(*number);
  }
  return text.empty() ? std::nullopt : std::optional<Attribute>(text);
}

/// A whole number, or a list of them: "5|10|20". An entry that is a list is "nested".
std::optional<Attribute> counts(const Node& node) {
  if (!node.is_sequence()) {
    const std::optional<std::int64_t> number = node.as_integer();
    if (!number || *number > largest_dimension || *number < 1) return std::nullopt;
    return std::optional<Attribute>(std::to_string(*number));
  }
  std::string text;
  for (const Node& item : node.items) {
    const std::optional<std::int64_t> number = item.as_integer();
    if (!item.is_sequence() && (!number || *number > largest_dimension || *number < 1)) return std::nullopt;
    text += (text.empty() ? "" : "|") + (item.is_sequence() ? std::string("nested") : std::to_string(*number));
  }
  return text.empty() ? std::nullopt : std::optional<Attribute>(text);
}

/// A list of words in its order: "down|up|up"; a text of them between bars.
std::optional<Attribute> names(const Node& node) {
  if (node.kind == Node::Kind::string) return std::optional<Attribute>(node.text);
  if (!node.is_sequence()) return std::nullopt;
  std::string text;
  for (const Node& item : node.items) text += (text.empty() ? "" : "|") + item.text;
  return text.empty() ? std::nullopt : std::optional<Attribute>(text);
}

constexpr std::array<Type, 10> types{{
    {"integer", "a whole number", [](const Node& node) { return as_attribute(node.as_integer()); }},
    {"number", "a number", [](const Node& node) { return as_attribute(node.as_number()); }},
    {"boolean", "true or false", [](const Node& node) { return as_attribute(node.as_boolean()); }},
    {"string", "text",
     [](const Node& node) {
       return node.kind == Node::Kind::string ? std::optional<Attribute>(node.text) : std::nullopt;
     }},
    {"words", "a list of words", words},
    {"length", "a list, or a text of letters", length},
    {"numbers", "a list of whole numbers", numbers},
    {"sizes", "a list of pairs of whole numbers", sizes},
    {"counts", "a whole number, or a list of them", counts},
    {"names", "a list of words", names},
}};

const Type* type_of(const Node& declaration) {
  const Node* name = declaration.find("type");
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const Type& type) { return name != nullptr && name->text == type.name; });
  return found == types.end() ? nullptr : &*found;
}

bool is_set(const Node& declaration, std::string_view field) {
  const Node* node = declaration.find(field);
  return node != nullptr && node->as_boolean().value_or(false);
}

/// transformers refuses a number in quotes, so it is no number here either.
std::optional<Attribute> read_as(const Type& type, const Node& node) {
  constexpr std::array<std::string_view, 4> of_texts{"string", "words", "names", "length"};
  const bool quoted = node.kind == Node::Kind::string && std::ranges::count(of_texts, type.name) == 0;
  return quoted ? std::nullopt : type.read(node);
}

/// A square may be given as its two sides, what all layers have alike by a list; `item: N` means entry N of the list
/// that is given.
const Node& part_of(const Node& declaration, const Node& given) {
  const Node* item = declaration.find("item");
  const std::int64_t at = item == nullptr ? -1 : item->as_integer().value_or(-1);
  if (at >= 0 && at < std::ssize(given.items)) return given.items[static_cast<std::size_t>(at)];
  const bool a_list = is_set(declaration, "alike") || (is_set(declaration, "square") && given.items.size() == 2);
  const bool alike = a_list && !given.items.empty() && std::ranges::all_of(given.items, [&](const Node& one) {
                       return one.is_scalar() && one.kind == given.items[0].kind && one.text == given.items[0].text;
                     });
  return alike ? given.items[0] : given;
}

/// A size is at least 1, unless the declaration says otherwise or has a smaller default.
std::int64_t minimum_of(const Node& declaration) {
  if (const Node* node = declaration.find("minimum")) return node->as_integer().value_or(1);
  const Node* usual = declaration.find("default");
  return std::min<std::int64_t>(1, usual == nullptr ? 1 : usual->as_integer().value_or(1));
}

std::int64_t maximum_of(const Node& declaration) {
  const Node* node = declaration.find("maximum");
  return node == nullptr ? largest_dimension : node->as_integer().value_or(largest_dimension);
}

bool is_in_range(const Attribute& value, std::int64_t minimum, std::int64_t maximum) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer >= minimum && *integer <= maximum;
  const auto* number = std::get_if<double>(&value);
  return number == nullptr || *number >= 0;
}

std::string range_of(const Type& type, std::int64_t minimum, std::int64_t maximum) {
  if (type.name == "number") return "a number of at least 0";
  if (type.name != "integer") return std::string(type.shown);
  return std::string(type.shown) + " from " + with_separators(minimum) + " to " + with_separators(maximum);
}

}  // namespace

ConfigValues::ConfigValues(const Document& config, const Document& file, const Node& declarations, Diagnostics& errors)
    : config_(config), file_(file), errors_(errors) {
  if (!declarations.is_mapping()) refuse_file(declarations, "\"config\" must be a mapping of keys");
  for (const Entry& entry : declarations.entries) declare(entry);
}

void ConfigValues::declare(const Entry& entry) {
  const auto is_known = [](const Entry& field) {
    return std::find(declaration_keys.begin(), declaration_keys.end(), field.key) != declaration_keys.end();
  };
  if (type_of(entry.value) == nullptr || !std::all_of(entry.value.entries.begin(), entry.value.entries.end(), is_known))
    return refuse_file(entry.value,
                       shown(entry.key) +
                           " must be declared as {type: integer, number, boolean, string, words, length, numbers, "
                           "sizes, counts or names" +
                           ", required: true or default: …, aliases: […], minimum: …, optional: true, divides: …, "
                           "multiple_of: …, square: true, alike: true, item: 0}");
  const Entry* found = find_in_config(entry);
  const bool null = says_null(entry.key) || (found == nullptr && an_alias_says_null(entry));
  const bool switched_off = null && is_set(entry.value, "optional");
  if (found != nullptr) given_.emplace(entry.key, &found->value);
  std::optional<Attribute> value;
  if (!switched_off) value = found != nullptr ? from_config(entry, *found) : from_default(entry);
  if (value) all_.emplace_back(entry.key, *value);
  values_.insert_or_assign(entry.key, std::move(value));
  if (const Node* other = entry.value.find("divides")) check_divides(entry, *other);
  if (const Node* step = entry.value.find("multiple_of")) check_multiple(entry, *step);
}

void ConfigValues::check_multiple(const Entry& declaration, const Node& step) {
  const std::int64_t of = step.as_integer().value_or(0);
  if (of < 1) return refuse_file(step, "\"multiple_of\" must be a whole number from 1 on");
  const std::optional<Attribute>& value = values_.find(declaration.key)->second;
  const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  if (integer == nullptr || *integer % of == 0) return;
  refuse_config(given(declaration.key), shown(declaration.key) + " (" + std::to_string(*integer) +
                                            ") is not a multiple of " + std::to_string(of));
}

void ConfigValues::check_divides(const Entry& declaration, const Node& other) {
  if (!is_name(other)) return refuse_file(other, "\"divides\" names a key declared above (\"$heads\")");
  const std::optional<Attribute>& value = values_.find(declaration.key)->second;
  const auto* divisor = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  const std::vector<std::int64_t> whole = integers({other});
  if (divisor == nullptr || whole.empty() || (*divisor > 0 && whole.front() % *divisor == 0)) return;
  const Node* own = given(declaration.key);
  refuse_config(own != nullptr ? own : given(name_in(other)),
                shown(declaration.key) + " (" + std::to_string(*divisor) + ") does not divide " + described(other));
}

const Node* ConfigValues::given(std::string_view key) const {
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : found->second;
}

namespace {

/// "depths.2" is the third entry of a list.
std::optional<std::size_t> number_of(std::string_view text) {
  constexpr std::size_t most_digits = 4;
  std::size_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + static_cast<std::size_t>(c - '0');
  }
  return text.empty() || text.size() > most_digits ? std::nullopt : std::optional(out);
}

/// What has a dotted key, and the key's last part.
struct Place {
  const Node* node = nullptr;
  std::string_view last{};
};

Place place_of(const Node& root, std::string_view key) {
  const Node* at = &root;
  for (std::size_t dot = key.find('.'); dot != std::string_view::npos && at != nullptr; dot = key.find('.')) {
    at = at->is_mapping() ? at->find(key.substr(0, dot)) : nullptr;
    key.remove_prefix(dot + 1);
  }
  return {at, key};
}

}  // namespace

/// "rope_parameters.partial_rotary_factor" is a key in a mapping of the config.
const Entry* ConfigValues::entry_of(std::string_view key) const {
  const auto [mapping, last] = place_of(config_.root, key);
  if (mapping == nullptr) return nullptr;
  if (mapping->is_sequence()) {
    const std::optional<std::size_t> at = number_of(last);
    if (!at || *at >= mapping->items.size()) return nullptr;
    const Node& item = mapping->items[*at];
    entries_.push_back({std::string(key), item.line, item.column, item});
    return &entries_.back();
  }
  for (const Entry& entry : mapping->entries)
    if (entry.key == last && entry.value.kind != Node::Kind::null) return &entry;
  return nullptr;
}

bool ConfigValues::says_null(std::string_view key) const {
  const auto [mapping, last] = place_of(config_.root, key);
  const Node* value = mapping == nullptr ? nullptr : mapping->find(last);
  return value != nullptr && value->kind == Node::Kind::null;
}

bool ConfigValues::an_alias_says_null(const Entry& declaration) const {
  const Node* aliases = declaration.value.find("aliases");
  return aliases != nullptr &&
         std::ranges::any_of(aliases->items, [&](const Node& alias) { return says_null(alias.text); });
}

const Entry* ConfigValues::find_in_config(const Entry& declaration) const {
  const Entry* found = entry_of(declaration.key);
  const Node* aliases = declaration.value.find("aliases");
  for (std::size_t i = 0; found == nullptr && aliases != nullptr && i < aliases->items.size(); ++i)
    found = entry_of(aliases->items[i].text);
  return found;
}

std::optional<Attribute> ConfigValues::from_config(const Entry& declaration, const Entry& found) {
  const Type& type = *type_of(declaration.value);
  const std::int64_t minimum = minimum_of(declaration.value);
  const std::int64_t maximum = maximum_of(declaration.value);
  std::optional<Attribute> value = read_as(type, part_of(declaration.value, found.value));
  if (value && is_in_range(*value, minimum, maximum)) return value;
  refuse_config(&found.value,
                shown(found.key) + " must be " + range_of(type, minimum, maximum) + ", not " + shown(found.value));
  return std::nullopt;
}

std::optional<Attribute> ConfigValues::from_default(const Entry& declaration) {
  if (const Node* usual = declaration.value.find("default")) return usual_value(declaration, *usual);
  if (is_set(declaration.value, "required"))
    errors_.push_back(error_in(config_, "catalog/missing-key", shown(declaration.key) + " is missing"));
  else
    refuse_file(declaration.value, shown(declaration.key) + " is neither required nor has a default");
  return std::nullopt;
}

/// By the key's type, so that `default: 0` of a number is one.
std::optional<Attribute> ConfigValues::usual_value(const Entry& declaration, const Node& usual) {
  if (usual.kind == Node::Kind::null) return std::nullopt;
  if (usual.is_mapping() || usual.text.starts_with('$')) return value_of(usual);
  const Type& type = *type_of(declaration.value);
  std::optional<Attribute> value = read_as(type, usual);
  if (!value)
    refuse_file(usual, "the default of " + shown(declaration.key) + " must be " + std::string(type.shown) + ", not " +
                           shown(usual));
  return value;
}

const Node* ConfigValues::list(std::string_view key) const {
  const Entry* entry = entry_of(key);
  return entry != nullptr && entry->value.is_sequence() ? &entry->value : nullptr;
}

const Node* ConfigValues::text(std::string_view key) const {
  const Entry* entry = entry_of(key);
  return entry != nullptr && entry->value.kind == Node::Kind::string ? &entry->value : nullptr;
}

void ConfigValues::refuse(const Node& node, std::string message) {
  const Node* own = is_name(node) ? given(name_in(node)) : nullptr;
  if (own != nullptr) return refuse_config(own, std::move(message));
  refuse_file(node, std::move(message));
}

void ConfigValues::refuse_config(const Node* node, std::string message) {
  constexpr const char* code = "catalog/bad-value";
  errors_.push_back(node == nullptr ? error_in(config_, code, std::move(message))
                                    : error_at(config_, *node, code, std::move(message)));
}

void ConfigValues::refuse_file(const Node& node, std::string message) {
  errors_.push_back(error_at(file_, node, "catalog/bad-file", std::move(message)));
}

}  // namespace oomplan::catalog
