#include "condition.hpp"

#include <algorithm>

#include "oomplan/core/text.hpp"
#include "oomplan/ingest/keys.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view operators = "?!<^=>~";

struct Term {
  bool negated = false;
  std::string_view keys{};  ///< "a|b"
  std::string_view test{};
  std::string_view value{};
};

Term term_of(std::string_view text) {
  Term out;
  out.negated = text.starts_with('!');
  if (out.negated) text.remove_prefix(1);
  out.keys = text.substr(0, text.find_first_of(operators));
  text.remove_prefix(out.keys.size());
  out.test = text.substr(0, text.find_first_not_of(operators));
  out.value = text.substr(out.test.size());
  return out;
}

/// Whether `test` holds for one of the parts of "a|b".
template <class Test>
bool any_part(std::string_view text, const Test& test) {
  while (true) {
    const auto bar = text.find('|');
    if (test(text.substr(0, bar))) return true;
    if (bar == text.npos) return false;
    text.remove_prefix(bar + 1);
  }
}

bool is_flag(const Node& node) { return node.kind == Node::Kind::boolean; }

bool equals(const Node& node, std::string_view wanted) {
  if (is_flag(node)) return wanted == (node.as_boolean().value_or(false) ? "true" : "false");
  const bool number = node.kind == Node::Kind::integer || node.kind == Node::Kind::real;
  return number ? node.as_number() == parse_number(wanted) : node.is_scalar() && node.text == wanted;
}

bool is_any(const Node& node, std::string_view wanted, const Inputs& inputs) {
  return any_part(wanted, [&](std::string_view one) {
    if (!one.starts_with('@')) return equals(node, one);
    const Node* other = find_value(inputs, one.substr(1));
    return other != nullptr && other->text == node.text;
  });
}

bool contains(const Node& node, std::string_view part) {
  if (node.is_sequence())
    return std::ranges::any_of(node.items, [&](const Node& item) { return contains(item, part); });
  return node.text.find(part) != std::string::npos;
}

std::optional<double> number_in(const Node& node) {
  if (node.kind != Node::Kind::integer && node.kind != Node::Kind::real) return std::nullopt;
  return node.as_number();
}

bool holds(const Term& term, const Node& node, const Inputs& inputs) {
  if (term.test == "??") return true;
  if (node.kind == Node::Kind::null) return false;
  if (term.test == "?") return true;
  if (term.test == "=") return is_any(node, term.value, inputs);
  if (term.test == "!=") return is_truthy(node) && !is_any(node, term.value, inputs);
  if (term.test == "^=") return node.text.starts_with(term.value);
  if (term.test == "~") return contains(node, term.value);
  const auto number = number_in(node);
  const double bound = parse_number(term.value).value_or(0);
  if (term.test == "<=") return number && *number <= bound;
  if (term.test == ">") return number ? *number > bound : is_truthy(node);
  return is_truthy(node);
}

bool holds(const Term& term, const Inputs& inputs) {
  const bool any = any_part(term.keys, [&](std::string_view key) {
    const Node* node = find_value(inputs, key);
    return node != nullptr && holds(term, *node, inputs);
  });
  return any != term.negated;
}

}  // namespace

const Node* find_value(const Inputs& inputs, std::string_view key) {
  for (auto at = inputs.rbegin(); at != inputs.rend(); ++at) {
    const Input& input = *at;
    if (input.key == key) return input.value;
    if (!key.starts_with(input.key) || key.size() <= input.key.size() || key[input.key.size()] != '.') continue;
    if (const Node* found = find_path(*input.value, key.substr(input.key.size() + 1))) return found;
  }
  return nullptr;
}

bool is_truthy(const Node& node) {
  if (node.is_sequence()) return !node.items.empty();
  if (node.is_mapping()) return !node.entries.empty();
  if (node.kind == Node::Kind::null) return false;
  if (is_flag(node)) return node.as_boolean().value_or(true);
  return node.kind == Node::Kind::string ? !node.text.empty() : node.as_number() != 0.0;
}

std::string_view subject_of(std::string_view condition) {
  return condition.substr(0, condition.find_first_of("?!<^=>~ |"));
}

bool holds(std::string_view condition, const Inputs& inputs) {
  constexpr std::string_view and_then = " & ";
  while (true) {
    const auto end = condition.find(and_then);
    if (!holds(term_of(condition.substr(0, end)), inputs)) return false;
    if (end == condition.npos) return true;
    condition.remove_prefix(end + and_then.size());
  }
}

}  // namespace oomplan::ingestion
