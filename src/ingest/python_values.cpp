#include "python_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {
namespace {

using Kind = Node::Kind;

constexpr std::array<std::string_view, 6> yes{"1", "true", "t", "yes", "y", "on"};
constexpr std::array<std::string_view, 6> no{"0", "false", "f", "no", "n", "off"};

std::optional<bool> word(const Node& node) {
  const std::string text = lowered(node.text);
  if (std::ranges::count(yes, text) > 0) return true;
  return std::ranges::count(no, text) > 0 ? std::optional(false) : std::nullopt;
}

std::optional<bool> zero_or_one(const Node& node) {
  if (node.kind == Kind::boolean) return node.as_boolean();
  const bool number = node.kind == Kind::integer || node.kind == Kind::real;
  const auto value = number ? node.as_number() : std::nullopt;
  return value == 0.0 || value == 1.0 ? std::optional(value == 1.0) : std::nullopt;
}

// "8.00" without what is behind the point.
std::string_view without_zeros(std::string_view text) {
  const auto point = text.find('.');
  const bool zeros =
      point != text.npos && point + 1 < text.size() && text.find_first_not_of('0', point + 1) == text.npos;
  return zeros ? text.substr(0, point) : text;
}

// The node as an integer's, where pydantic makes one of it.
Node whole(const Node& node) {
  constexpr double most = 9e15;  // beyond, a double has no units
  Node out = node;
  out.kind = Kind::integer;
  const auto value = node.kind == Kind::real ? node.as_number() : std::nullopt;
  if (node.kind == Kind::boolean) {
    out.text = node.as_boolean().value_or(false) ? "1" : "0";
  } else if (value && std::trunc(*value) == *value && std::abs(*value) < most) {
    out.text = std::to_string(static_cast<std::int64_t>(*value));
  } else if (node.kind == Kind::string) {
    out.kind = Kind::string;
    out.text = without_zeros(node.text);
  } else {
    return node;
  }
  return out;
}

}  // namespace

std::optional<bool> read_pydantic_boolean(const Node& node) {
  return node.kind == Kind::string ? word(node) : zero_or_one(node);
}

std::optional<std::int64_t> read_pydantic_positive(const Node& node) { return read_positive(whole(node)); }
std::optional<std::int64_t> read_pydantic_count(const Node& node) { return read_count(whole(node)); }

std::optional<double> read_pydantic_number(const Node& node) {
  return node.kind == Kind::boolean ? read_number(whole(node)) : read_number(node);
}

std::optional<double> read_pydantic_fraction(const Node& node) {
  return node.kind == Kind::boolean ? read_fraction(whole(node)) : read_fraction(node);
}

std::optional<std::string> read_pydantic_text(const Node& node) {
  return node.kind == Kind::string ? read_text(node) : std::nullopt;
}

std::optional<bool> read_checked_boolean(const Node& node) {
  const auto value = read_pydantic_boolean(node);
  return node.kind == Kind::string && value == false ? std::nullopt : value;
}

std::optional<bool> read_argparse_boolean(const Node& node) {
  if (node.kind != Kind::string) return zero_or_one(node);
  const std::string text = lowered(node.text);
  return text == "on" || text == "off" ? std::nullopt : word(node);
}

std::optional<bool> read_plain_boolean(const Node& node) {
  return node.kind == Kind::string ? std::nullopt : zero_or_one(node);
}

}  // namespace oomplan::ingestion
