#include "hole.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// Where a terminal broke the line, a number may be in two pieces.
std::size_t digits(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size() && (digit(text[at]) || (text[at] == '\n' && at > begin))) ++at;
  while (at > begin && text[at - 1] == '\n') --at;
  return at;
}

struct Unit {
  std::string_view name;
  double factor;
};
constexpr double k = 1024;
// Longest first. "B" after a number counts bytes; what prints GB for 2^30 (MPS, Paddle, memory_summary; Gb in R) is the
// rule here.
constexpr auto units = std::to_array<Unit>(
    {{"bytes", 1},      {"byte", 1},         {"Bytes", 1},       {"KiB", k},        {"MiB", k* k},
     {"GiB", k* k* k},  {"TiB", k* k* k* k}, {"kiB", k},         {"kB", k},         {"KB", k},
     {"MB", k* k},      {"GB", k* k* k},     {"TB", k* k* k* k}, {"kb", k},         {"mb", k* k},
     {"gb", k* k* k},   {"Ki", k},           {"Mi", k* k},       {"Gi", k* k* k},   {"Ti", k* k* k* k},
     {"K", k},          {"M", k* k},         {"G", k* k* k},     {"T", k* k* k* k}, {"B", 1},
     {"Mo", k* k},      {"Go", k* k* k},     {"Kb", k},          {"Mb", k* k},      {"Gb", k* k* k},
     {"Tb", k* k* k* k}});

// How many bytes `name` takes at the beginning of `text`, in which a line may end; 0 where it is not there.
std::size_t span_of_name(std::string_view name, std::string_view text) {
  std::size_t at = 0;
  for (const char c : name) {
    if (c == ' ' && at < text.size() && text[at] == '\n') continue;
    while (at > 0 && at < text.size() && text[at] == '\n') ++at;
    if (at >= text.size() || text[at] != c) return 0;
    ++at;
  }
  return at;
}

// "1 GPU" is no size.
bool is_word_begun(std::string_view name, std::string_view text) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  return name.size() == 1 && letter(1) && letter(2);
}

const Unit* unit_at(std::string_view text) {
  const Unit* best = nullptr;
  for (const Unit& unit : units)
    if (span_of_name(unit.name, text) > 0 && (best == nullptr || unit.name.size() > best->name.size())) best = &unit;
  return best == nullptr || is_word_begun(best->name, text) ? nullptr : best;
}

bool thousands(std::string_view text, std::size_t at) {
  return at + 3 < text.size() && text[at] == ',' && digits(text.substr(0, at + 4), at + 1) == at + 4 &&
         !(at + 4 < text.size() && digit(text[at + 4]));
}

std::optional<std::size_t> number_span(std::string_view text) {
  std::size_t at = digits(text, 0);
  if (at == 0) return std::nullopt;
  while (thousands(text, at)) at += 4;
  // "201. GiB" is how NumPy prints three digits; a dot at a sentence's end is not part of a number.
  if (at + 2 < text.size() && text[at] == '\n' && text[at + 1] == '.' && digit(text[at + 2])) ++at;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = at + 1 < text.size() && text[at + 1] == '\n' ? at + 2 : at + 1;
    const std::size_t after = digits(text, fraction);
    if (after > fraction || (after + 1 < text.size() && text[after] == ' ' && unit_at(text.substr(after + 1))))
      at = after;
  }
  return at;
}

std::size_t skip_gap(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
  return at;
}

std::optional<std::size_t> size_span(std::string_view text) {
  const std::optional<std::size_t> number = number_span(text);
  if (!number) return std::nullopt;
  const std::size_t at = skip_gap(text, *number);
  const Unit* unit = unit_at(text.substr(at));
  return unit == nullptr ? std::nullopt : std::optional(at + span_of_name(unit->name, text.substr(at)));
}

std::optional<std::size_t> integer_span(std::string_view text) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t end = digits(text, sign);
  return end == sign ? std::nullopt : std::optional(end);
}

std::optional<std::size_t> device_span(std::string_view text) {
  const std::size_t end = digits(text, 0);
  if (end > 0) return end;
  const bool raw = !text.empty() && static_cast<unsigned char>(text[0]) < 0x20 && text[0] != '\n' && text[0] != '\t';
  return raw ? 1 : 0;
}

std::optional<std::size_t> status_span(std::string_view text) {
  const std::size_t colon = digits(text, 0);
  if (colon == 0 || colon >= text.size() || text[colon] != ':') return std::nullopt;
  const std::size_t end = digits(text, colon + 1);
  return end == colon + 1 ? std::nullopt : std::optional(end);
}

struct Signal {
  int number;
  std::string_view name;
  std::string_view words;
};
constexpr auto signals = std::to_array<Signal>({{1, "SIGHUP", "Hangup"},
                                                {2, "SIGINT", "Interrupt"},
                                                {3, "SIGQUIT", "Quit"},
                                                {4, "SIGILL", "Illegal instruction"},
                                                {6, "SIGABRT", "Aborted"},
                                                {7, "SIGBUS", "Bus error"},
                                                {8, "SIGFPE", "Floating point exception"},
                                                {9, "SIGKILL", "Killed"},
                                                {11, "SIGSEGV", "Segmentation fault"},
                                                {13, "SIGPIPE", "Broken pipe"},
                                                {15, "SIGTERM", "Terminated"},
                                                {24, "SIGXCPU", "CPU time limit exceeded"},
                                                {25, "SIGXFSZ", "File size limit exceeded"}});

std::optional<std::size_t> signal_span(std::string_view text) {
  if (const auto number = integer_span(text)) return number;
  for (const Signal& signal : signals)
    for (const std::string_view name : {signal.name, signal.words})
      if (const std::size_t size = span_of_name(name, text); size > 0) return size;
  return std::nullopt;
}

std::string without_breaks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '\n' && c != ',') out += c;
  return out;
}

std::int64_t rounded(double value) {
  return value >= 9.2e18 ? Bytes::max().count() : static_cast<std::int64_t>(std::llround(value));
}

Reading sized(Reading fact, double factor) {
  std::string digits_only = without_breaks(fact.text);
  const std::size_t end = digits_only.find_first_not_of("0123456789.");
  const double value = parse_number(digits_only.substr(0, end))
                           .value_or(parse_number(digits_only.substr(0, digits_only.find('.'))).value_or(0));
  fact.kind = Reading::Kind::bytes;
  fact.real = value * factor;
  const auto whole = parse_integer(digits_only.substr(0, end));
  fact.integer = whole && factor < 2 ? *whole : rounded(fact.real);
  return fact;
}

Reading sized_with_unit(Reading fact) {
  const std::string_view text = fact.text;
  const std::size_t unit = skip_gap(text, number_span(text).value_or(0));
  const Unit* found = unit_at(text.substr(unit));
  return sized(fact, found == nullptr ? 1 : found->factor);
}

Reading counted(Reading fact) {
  const std::string plain = without_breaks(fact.text);
  fact.kind = Reading::Kind::integer;
  fact.integer = parse_integer(plain).value_or(Bytes::max().count());
  fact.real = static_cast<double>(fact.integer);
  return fact;
}

Reading device(Reading fact) {
  if (fact.text.empty()) return fact;
  if (digit(fact.text[0])) return counted(fact);
  fact.kind = Reading::Kind::integer;
  fact.integer = static_cast<unsigned char>(fact.text[0]);
  fact.text = std::to_string(fact.integer);
  return fact;
}

}  // namespace

std::string_view signal_named(std::string_view text) {
  const bool negative = text.starts_with("-");
  const std::optional<std::int64_t> number = parse_integer(negative ? text.substr(1) : text);
  for (const Signal& signal : signals)
    for (const std::string_view name : {signal.name, signal.words})
      if (number == signal.number || (!text.empty() && span_of_name(name, text) == text.size())) return signal.name;
  return {};
}

std::optional<std::size_t> span_of(HoleType type, std::string_view text) {
  switch (type) {
    case HoleType::size:
      return size_span(text);
    case HoleType::gibibytes:
    case HoleType::mebibytes:
    case HoleType::kibibytes:
    case HoleType::bytes:
    case HoleType::real: {
      const std::size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
      const auto span = number_span(text.substr(sign));
      return span ? std::optional(*span + sign) : std::nullopt;
    }
    case HoleType::integer:
      return integer_span(text);
    case HoleType::device:
      return device_span(text);
    case HoleType::signal:
      return signal_span(text);
    case HoleType::status:
      return status_span(text);
    default:
      return std::nullopt;
  }
}

Reading fact_of(const Hole& hole, std::string_view text) {
  Reading fact{.name = hole.name, .text = std::string(text)};
  switch (hole.type) {
    case HoleType::size:
      fact = sized_with_unit(std::move(fact));
      break;
    case HoleType::gibibytes:
      return sized(std::move(fact), k * k * k);
    case HoleType::mebibytes:
      return sized(std::move(fact), k * k);
    case HoleType::kibibytes:
      return sized(std::move(fact), k);
    case HoleType::bytes:
      return sized(std::move(fact), 1);
    case HoleType::integer:
      return counted(std::move(fact));
    case HoleType::device:
      return device(std::move(fact));
    case HoleType::real:
      fact.kind = Reading::Kind::real;
      fact.real = parse_number(without_breaks(text)).value_or(0);
      return fact;
    case HoleType::signal:
      fact.text = std::string(signal_named(text));
      if (fact.text.empty()) fact.text = std::string(text);
      return fact;
    default:
      break;
  }
  if (hole.type == HoleType::word) std::erase(fact.text, '\n');
  std::replace(fact.text.begin(), fact.text.end(), '\n', ' ');
  return fact;
}

}  // namespace oomplan::diagnose
