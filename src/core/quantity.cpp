#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

struct Unit {
  std::string_view name;  // upper case
  std::int64_t bytes = 0;
};

constexpr std::int64_t kibi = 1024;
constexpr std::int64_t kilo = 1000;

// "24G" is binary, as nvidia-smi and Slurm mean it; "24GB" is what the box says.
constexpr std::array<Unit, 20> units{{
    {"", 1},
    {"B", 1},
    {"K", kibi},
    {"KB", kilo},
    {"KIB", kibi},
    {"M", kibi* kibi},
    {"MB", kilo* kilo},
    {"MIB", kibi* kibi},
    {"G", kibi* kibi* kibi},
    {"GB", kilo* kilo* kilo},
    {"GIB", kibi* kibi* kibi},
    {"T", kibi* kibi* kibi* kibi},
    {"TB", kilo* kilo* kilo* kilo},
    {"TIB", kibi* kibi* kibi* kibi},
    {"P", kibi* kibi* kibi* kibi* kibi},
    {"PB", kilo* kilo* kilo* kilo* kilo},
    {"PIB", kibi* kibi* kibi* kibi* kibi},
    {"E", kibi* kibi* kibi* kibi* kibi* kibi},
    {"EB", kilo* kilo* kilo* kilo* kilo* kilo},
    {"EIB", kibi* kibi* kibi* kibi* kibi* kibi},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view leading_digits(std::string_view text) {
  return text.substr(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin()));
}

std::optional<std::int64_t> unit_bytes(std::string_view name) {
  for (const Unit& unit : units) {
    if (std::equal(name.begin(), name.end(), unit.name.begin(), unit.name.end(),
                   [](char a, char b) { return upper(a) == b; })) {
      return unit.bytes;
    }
  }
  return std::nullopt;
}

template <class T>
std::optional<T> converted(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Without the "_" between digits and without a leading "+", which from_chars does not take.
std::optional<std::string> plain_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (text[i] == '_' && !between) return std::nullopt;
    if (text[i] != '_') out += text[i];
  }
  return out;
}

std::int64_t fraction_of(std::string_view digits, std::int64_t unit) {
  const double fraction = converted<double>("0." + std::string(digits)).value_or(0);
  return static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(unit)));
}

}  // namespace

std::string to_text(Bytes bytes) {
  constexpr std::array<std::string_view, 6> names{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto size = static_cast<double>(bytes.count());
  if (std::abs(size) < 1024) return fmt::format("{} B", bytes.count());
  std::size_t name = 0;
  size /= 1024;
  while (std::abs(size) >= 1023.995 && name + 1 < names.size()) {
    size /= 1024;
    ++name;
  }
  return fmt::format("{:.2f} {}", size, names[name]);
}

std::string with_separators(std::int64_t value) {
  std::string out = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = out.size(); at > first + 3;) out.insert(at -= 3, ",");
  return out;
}

std::string counted(std::int64_t count, std::string_view noun) {
  const std::string_view ending = count == 1 ? "" : noun.ends_with("ch") || noun.ends_with("ss") ? "es" : "s";
  return fmt::format("{} {}{}", with_separators(count), noun, ending);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  text = trimmed(text);
  const std::string_view whole = leading_digits(text);
  text.remove_prefix(whole.size());
  std::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    fraction = leading_digits(text.substr(1));
    if (fraction.empty()) return std::nullopt;
    text.remove_prefix(1 + fraction.size());
  }
  const std::optional<std::int64_t> count = converted<std::int64_t>(whole);
  const std::optional<std::int64_t> unit = unit_bytes(trimmed(text));
  if (!count || !unit || (*unit == 1 && !fraction.empty())) return std::nullopt;
  const Bytes out = Bytes(*count) * *unit + Bytes(fraction_of(fraction, *unit));
  return out.saturated() ? std::nullopt : std::optional(out);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::optional<std::string> plain = plain_number(text);
  return plain ? converted<std::int64_t>(*plain) : std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<std::string> plain = plain_number(text);
  const std::optional<double> out = plain ? converted<double>(*plain) : std::nullopt;
  return out && std::isfinite(*out) ? out : std::nullopt;
}

}  // namespace oomplan
