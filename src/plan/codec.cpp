#include "oomplan/plan/codec.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "oomplan/core/text.hpp"

namespace oomplan::planning {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// What YAML 1.1 or 1.2 would not read back as a string.
bool is_reserved(std::string_view text) {
  constexpr std::array<std::string_view, 9> words{"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  return std::ranges::any_of(words, [&](std::string_view word) { return same_word(word, text); });
}

bool is_plain(std::string_view text) {
  constexpr std::string_view inner = "_-./@+";
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_' || c == '/'; };
  const auto safe = [&](unsigned char c) {
    return std::isalnum(c) != 0 || inner.find(static_cast<char>(c)) != inner.npos;
  };
  return !text.empty() && letter(static_cast<unsigned char>(text.front())) && std::ranges::all_of(text, safe) &&
         !is_reserved(text);
}

void append_quoted(std::string& out, unsigned char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += {'\\', static_cast<char>(c)};
  } else if (c < 0x20 || c == 0x7f) {
    out += {'\\', 'x', hex[c >> 4U], hex[c & 15U]};
  } else {
    out += static_cast<char>(c);
  }
}

// No machine holds a trillion of anything that a plan counts; past it only arithmetic would suffer.
constexpr std::int64_t most_counted = 1'000'000'000'000;

std::optional<std::int64_t> integer_from(const Node& node, std::int64_t least) {
  const auto value = node.as_integer();
  return value && *value >= least && *value <= most_counted ? value : std::nullopt;
}

}  // namespace

std::string yaml_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string out = "\"";
  for (const char c : text) append_quoted(out, static_cast<unsigned char>(c));
  return out + "\"";
}

std::string yaml_list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + yaml_text(item);
  return "[" + out + "]";
}

std::string write_images(const std::int64_t& value) {
  return value == unknown_images ? "unknown" : write_integer(value);
}
std::string write_boolean(const bool& value) { return value ? "true" : "false"; }
std::string write_integer(const std::int64_t& value) { return std::to_string(value); }
std::string write_text(const std::string& value) { return yaml_text(value); }
std::string write_dtype(const DType& value) { return std::string(name_of(value)); }

std::string write_number(const double& value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

std::optional<std::int64_t> read_positive(const Node& node) { return integer_from(node, 1); }
std::optional<std::int64_t> read_images(const Node& node) {
  if (node.kind == Node::Kind::string && node.text == "unknown") return unknown_images;
  return integer_from(node, 0);
}
std::optional<std::int64_t> read_elements(const Node& node) {
  if (node.kind == Node::Kind::string && node.text == "auto") return by_hidden_size;
  if (const auto whole = integer_from(node, 0)) return whole;
  // deepspeed/runtime/config_utils.py: pp_int; pydantic takes a float that is an integer for one.
  const auto number = read_number(node);
  if (!number || *number < 0 || *number > static_cast<double>(most_counted) || *number != std::floor(*number))
    return {};
  return static_cast<std::int64_t>(*number);
}
std::string write_elements(const std::int64_t& value) {
  return value == by_hidden_size ? "auto" : write_integer(value);
}
std::optional<std::int64_t> read_count(const Node& node) { return integer_from(node, 0); }

std::optional<std::int64_t> read_integer(const Node& node) { return integer_from(node, -most_counted); }
std::optional<bool> read_boolean(const Node& node) { return node.is_scalar() ? node.as_boolean() : std::nullopt; }
std::optional<double> read_number(const Node& node) { return node.is_scalar() ? node.as_number() : std::nullopt; }

std::optional<double> read_fraction(const Node& node) {
  const auto value = read_number(node);
  return value && *value >= 0 && *value < 1 ? value : std::nullopt;
}

std::optional<std::string> read_text(const Node& node) {
  const bool some = node.is_scalar() && node.kind != Node::Kind::null && !node.text.empty();
  return some ? std::optional(node.text) : std::nullopt;
}

std::optional<std::string> read_text_or_nothing(const Node& node) {
  return node.is_scalar() ? std::optional(node.text) : std::nullopt;
}

std::optional<std::vector<std::string>> read_names(const Node& node) {
  if (const auto one = read_text(node)) return std::vector{*one};
  if (!node.is_sequence()) return {};
  std::vector<std::string> out;
  for (const Node& item : node.items) {
    const auto name = read_text(item);
    if (!name) return {};
    out.push_back(*name);
  }
  return out;
}

std::optional<std::vector<std::string>> read_sampling(const Node& node) {
  const auto said = read_names(node);
  if (!said) return {};
  std::vector<std::string> out;
  for (const std::string_view name : sampling_names) {
    if (std::ranges::count(*said, name) > 0) out.emplace_back(name);
  }
  return out.size() == said->size() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::vector<std::string>> read_numbers(const Node& node) {
  std::vector<std::string> out;
  const auto take = [&](const Node& item) {
    const auto number = item.as_integer();
    if (number.value_or(-1) < 0) return false;
    out.push_back(std::to_string(*number));
    return true;
  };
  if (!node.is_sequence()) return take(node) ? std::optional(out) : std::nullopt;
  return std::ranges::all_of(node.items, take) ? std::optional(out) : std::nullopt;
}

std::string write_numbers(const std::vector<std::string>& numbers) {
  std::string out;
  for (const std::string& number : numbers) out += (out.empty() ? "" : ", ") + number;
  return "[" + out + "]";
}

std::optional<DType> read_float_dtype(const Node& node) {
  const auto dtype = node.is_scalar() ? parse_dtype(node.text) : std::nullopt;
  return dtype && is_floating(*dtype) ? dtype : std::nullopt;
}

std::optional<std::size_t> read_choice(const Node& node, const std::string_view* names, std::size_t count) {
  if (!node.is_scalar() || node.kind == Node::Kind::null) return {};
  const auto* found =
      std::find_if(names, names + count, [&](std::string_view name) { return same_word(name, node.text); });
  return found == names + count ? std::nullopt : std::optional(static_cast<std::size_t>(found - names));
}

}  // namespace oomplan::planning
