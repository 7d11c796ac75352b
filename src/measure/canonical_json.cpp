// The canonical form as JSON.
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "canonical.hpp"
#include "canonical_cursor.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

class Writer {
 public:
  explicit Writer(std::string_view in) : in_(in) {}
  bool value(std::string& out);

 private:
  bool text(std::string& out);
  bool children(std::string& out, char end);
  void time(std::string& out, char kind);

  CanonicalCursor in_;
};

template <class T>
void decimal(std::string& out, T value) {
  char digits[40];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

bool Writer::text(std::string& out) {
  const std::string_view text = in_.sized();
  if (valid_utf8(text) != text.size()) return false;
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
  return true;
}

void Writer::time(std::string& out, char kind) {
  const auto seconds = in_.raw<std::int64_t>();
  const auto nanoseconds = in_.raw<std::int32_t>();
  const std::int64_t days = seconds >= 0 ? seconds / 86400 : -((86399 - seconds) / 86400);
  const auto rest = static_cast<int>(seconds - days * 86400);
  char buffer[80];
  if (kind == 'D') {
    std::snprintf(buffer, sizeof buffer, "\"PT%lld.%09dS\"", static_cast<long long>(seconds), nanoseconds);
  } else if (kind == 'C') {
    std::snprintf(buffer, sizeof buffer, "\"%02d:%02d:%02d.%09d\"", rest / 3600, rest / 60 % 60, rest % 60,
                  nanoseconds);
  } else if (days > 12'000'000 || days < -12'000'000) {  // beyond what a calendar's year holds
    std::snprintf(buffer, sizeof buffer, "\"@%lld.%09d\"", static_cast<long long>(seconds), nanoseconds);
  } else {
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
    std::snprintf(buffer, sizeof buffer, "\"%04d-%02u-%02uT%02d:%02d:%02d.%09dZ\"", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), rest / 3600, rest / 60 % 60,
                  rest % 60, nanoseconds);
  }
  out += buffer;
}

bool Writer::children(std::string& out, char end) {
  out += end == ']' ? '[' : '{';
  for (bool first = true; !in_.at(end); first = false) {
    if (!first) out += ", ";
    if (end == '}') {
      in_.tag();  // k
      if (!text(out)) return false;
      out += ": ";
    }
    if (!value(out)) return false;
  }
  in_.tag();
  out += end;
  return true;
}

bool Writer::value(std::string& out) {
  const char tag = in_.tag();
  switch (tag) {
    case 't':
      out += "true";
      return true;
    case 'f':
      out += "false";
      return true;
    case 'i':
      decimal(out, in_.raw<std::int64_t>());
      return true;
    case 'u':
      decimal(out, in_.raw<std::uint64_t>());
      return true;
    case 'd':
      out += in_.sized();
      return true;
    case 's':
      return text(out);
    case '[':
      return children(out, ']');
    case '{':
      return children(out, '}');
    case 'T':
    case 'D':
    case 'C':
      time(out, tag);
      return true;
    case 'x': {
      const auto number = in_.raw<double>();
      if (std::isfinite(number))
        decimal(out, number);
      else
        out += "null";  // as every JSON writer does with what JSON has no number for
      return true;
    }
    default:
      out += "null";
      return true;
  }
}

}  // namespace

std::optional<std::string> canonical_as_json(std::string_view canonical) {
  std::string out;
  if (!Writer(canonical).value(out)) return std::nullopt;
  return out;
}

}  // namespace oomplan::measure
