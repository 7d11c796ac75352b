#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::string without_underscores(std::string_view text) {
  std::string out(text);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  return out;
}

std::optional<std::int64_t> in_base(std::string_view digits, int base, bool negative) {
  const std::string text = (negative ? "-" : "") + std::string(digits);
  if (digits.starts_with('-')) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::optional<std::int64_t> in_base_60(std::string_view text, bool negative) {
  std::int64_t out = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const std::optional<std::int64_t> part = in_base(text.substr(0, colon), 10, false);
    if (!part) return std::nullopt;
    out = saturating_add(saturating_mul(out, 60), *part);
    if (Bytes(out).saturated()) return std::nullopt;
    if (colon == std::string_view::npos) return negative ? -out : out;
    text.remove_prefix(colon + 1);
  }
}

// The integers of YAML 1.1 and TOML. 010 is eight, as YAML 1.1 has it; TOML and JSON do not let it through.
std::optional<std::int64_t> written_integer(std::string_view written) {
  const std::string plain = without_underscores(written);
  std::string_view text = plain;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x")) return in_base(text.substr(2), 16, negative);
  if (text.starts_with("0o")) return in_base(text.substr(2), 8, negative);
  if (text.starts_with("0b")) return in_base(text.substr(2), 2, negative);
  if (text.find(':') != std::string_view::npos) return in_base_60(text, negative);
  return in_base(text, text.starts_with('0') ? 8 : 10, negative);
}

// "1:30.5" of YAML 1.1 is ninety and a half.
std::optional<double> written_real(std::string_view written) {
  const std::string plain = without_underscores(written);
  const std::size_t colon = plain.rfind(':');
  if (colon == std::string::npos) return parse_number(plain);
  const bool negative = plain.starts_with('-');
  const std::string_view whole = std::string_view(plain).substr(negative || plain.starts_with('+') ? 1 : 0);
  const auto minutes = in_base_60(whole.substr(0, whole.rfind(':')), false);
  const auto seconds = parse_number(std::string_view(plain).substr(colon + 1));
  if (!minutes || !seconds) return std::nullopt;
  const double out = static_cast<double>(*minutes) * 60 + *seconds;
  return negative ? -out : out;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::optional<bool> Node::as_boolean() const {
  constexpr std::array<std::string_view, 3> yes{"true", "yes", "on"};
  constexpr std::array<std::string_view, 3> no{"false", "no", "off"};
  if (kind != Kind::boolean && kind != Kind::string) return std::nullopt;
  if (text.size() > 5) return std::nullopt;
  const std::string word = lowered(text);
  if (std::find(yes.begin(), yes.end(), word) != yes.end()) return true;
  if (std::find(no.begin(), no.end(), word) != no.end()) return false;
  return std::nullopt;
}

std::optional<std::int64_t> Node::as_integer() const {
  if (kind == Kind::integer) return written_integer(text);
  if (kind == Kind::string) return parse_integer(trimmed(text));
  return std::nullopt;
}

std::optional<double> Node::as_number() const {
  if (kind == Kind::real) return written_real(text);
  if (kind == Kind::string) return parse_number(trimmed(text));
  if (kind != Kind::integer) return std::nullopt;
  if (const auto integer = written_integer(text)) return static_cast<double>(*integer);
  return text.starts_with('0') ? std::nullopt : parse_number(without_underscores(text));
}

}  // namespace oomplan
