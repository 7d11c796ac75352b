// ConfigValues: what the expressions of an architecture file stand for.
#include <utility>

#include "config_values.hpp"
#include "errors.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::catalog {
namespace {

template <class T>
std::optional<Attribute> attribute_of(std::optional<T> value) {
  return value ? std::optional<Attribute>(std::move(*value)) : std::nullopt;
}

/// A scalar of an architecture file that stands for itself.
std::optional<Attribute> literal(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return attribute_of(node.as_boolean());
    case Node::Kind::integer:
      return attribute_of(node.as_integer());
    case Node::Kind::real:
      return attribute_of(node.as_number());
    case Node::Kind::string:
      return node.text;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_name(const Node& node) { return node.kind == Node::Kind::string && node.text.starts_with('$'); }
std::string_view name_in(const Node& node) { return std::string_view(node.text).substr(1); }

std::optional<Attribute> ConfigValues::value_of(const Node& node) {
  if (is_name(node)) return named(node);
  if (node.is_mapping()) return computed(node);
  if (node.is_sequence()) refuse_file(node, "expected a value, not a list");
  return literal(node);
}

std::optional<Attribute> ConfigValues::named(const Node& node) {
  const auto found = values_.find(name_in(node));
  if (found != values_.end()) return found->second;
  refuse_file(node, shown(node.text) + " is not declared under \"config\" above");
  return std::nullopt;
}

std::optional<Attribute> ConfigValues::computed(const Node& node) {
  const bool is_alone = node.entries.size() == 1 && node.entries[0].value.is_sequence();
  const std::string_view operation = is_alone ? std::string_view(node.entries[0].key) : "";
  if (operation != "quotient" && operation != "product" && operation != "difference" && operation != "part") {
    refuse_file(node, "expected {quotient: [a, b]}, {product: [a, b]}, {difference: [a, b]} or {part: [a, b]}");
    return std::nullopt;
  }
  const Node& operands = node.entries[0].value;
  if (operation == "part") return part(operands);
  if (operands.items.empty()) refuse_file(operands, "expected operands here");
  const std::vector<std::int64_t> values = integers(operands.items);
  if (values.empty()) return std::nullopt;
  if (operation == "quotient") return quotient(operands, values);
  if (operation == "difference") return difference(operands, values);
  std::int64_t product = 1;
  for (const std::int64_t value : values) product = saturating_mul(product, value);
  return product;
}

/// int(whole * share), as transformers takes a partial rotary width.
std::optional<Attribute> ConfigValues::part(const Node& operands) {
  if (operands.items.size() != 2) {
    refuse_file(operands, "a part has two operands");
    return std::nullopt;
  }
  const std::vector<std::int64_t> whole = integers({operands.items[0]});
  const std::optional<Attribute> share = value_of(operands.items[1]);
  const auto* number = share ? std::get_if<double>(&*share) : nullptr;
  if (whole.empty() || number == nullptr) return std::nullopt;
  if (*number >= 0 && *number <= 1) return static_cast<std::int64_t>(static_cast<double>(whole.front()) * *number);
  refuse(operands.items[1], described(operands.items[1]) + " must be from 0 to 1");
  return std::nullopt;
}

std::optional<Attribute> ConfigValues::difference(const Node& operands, const std::vector<std::int64_t>& values) {
  if (values.size() == 2) return saturating_sub(values[0], values[1]);
  refuse_file(operands, "a difference has two operands");
  return std::nullopt;
}

std::optional<Attribute> ConfigValues::quotient(const Node& operands, const std::vector<std::int64_t>& values) {
  if (values.size() != 2) {
    refuse_file(operands, "a quotient has two operands");
    return std::nullopt;
  }
  if (values[1] > 0 && values[0] % values[1] == 0) return values[0] / values[1];
  const Node* key = is_name(operands.items[0]) ? given(name_in(operands.items[0])) : nullptr;
  // Where the divisor says itself that it divides, that error stands already.
  if (errors_.empty())
    refuse_config(key, described(operands.items[0]) + " is not a multiple of " + described(operands.items[1]));
  return std::nullopt;
}

/// All of the operands, or none where one is no integer.
std::vector<std::int64_t> ConfigValues::integers(const std::vector<Node>& operands) {
  std::vector<std::int64_t> out;
  for (const Node& operand : operands) {
    const std::optional<Attribute> value = value_of(operand);
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    if (integer == nullptr) {
      // After an error a value may be missing only because of that error.
      if (errors_.empty()) refuse_file(operand, shown(operand) + " is not a whole number here");
      return {};
    }
    out.push_back(*integer);
  }
  return out;
}

/// "\"hidden_size\" (4096)"
std::string ConfigValues::described(const Node& operand) const {
  if (!is_name(operand)) return operand.is_scalar() ? operand.text : "a product";
  const std::string_view name = name_in(operand);
  const auto found = values_.find(name);
  const auto* value = found != values_.end() && found->second ? std::get_if<std::int64_t>(&*found->second) : nullptr;
  return shown(name) + (value == nullptr ? "" : " (" + std::to_string(*value) + ")");
}

}  // namespace oomplan::catalog
