#include <algorithm>
#include <array>
#include <cstddef>

#include "escapes.hpp"
#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr auto keys = std::to_array<std::string_view>({"log", "message", "MESSAGE", "msg", "text", "textPayload"});

struct Text {
  std::string text{};
  std::size_t end = 0;  ///< Behind its quote.
  bool lines = false;   ///< It holds line ends.
};

// The string that begins at `at`, behind its quote; an end that is missing is the line's.
Text string_at(std::string_view text, std::size_t at) {
  Text out;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out.text += text[at];
      continue;
    }
    const Escape escape = escape_at(text.substr(at));
    out.text += escape.size == 0 ? std::string(1, text[at + 1]) : escape.text;
    const std::size_t last = at + std::max<std::size_t>(escape.size, 2) - 1;
    out.lines = out.lines || (text[at + 1] == 'n' && last + 2 < text.size() && text[last + 1] != '"');
    at = last;
  }
  out.end = std::min(at + 1, text.size());
  return out;
}

// journald writes a message with control characters as a list of its bytes.
std::string bytes_at(std::string_view text, std::size_t at) {
  std::string out;
  unsigned value = 0;
  for (; at < text.size() && text[at] != ']'; ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (digit) value = (value * 10 + static_cast<unsigned>(text[at] - '0')) & 0xFFFU;
    if (!digit && text[at] != ',' && text[at] != ' ') return {};
    const bool last = digit && at + 1 < text.size() && (text[at + 1] == ',' || text[at + 1] == ']');
    if (!last) continue;
    out += static_cast<char>(value);
    value = 0;
  }
  return out;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// A member on a line of its own, as indented JSON has it.
bool begins_with_message(std::string_view line) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return line.starts_with('"') && line.substr(1).starts_with(key) &&
           line.substr(1 + key.size()).starts_with("\": \"");
  });
}

// What stands beside the text in an example that a model is trained with.
bool is_of_example(std::string_view key) {
  constexpr auto beside = std::to_array<std::string_view>({"text", "meta", "id", "source", "label", "url", "lang"});
  return std::find(beside.begin(), beside.end(), key) != beside.end();
}

bool is_message(const std::string& key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); }

}  // namespace

std::vector<std::string> messages_of_json(std::string_view line) {
  std::vector<std::string> out;
  const std::size_t begin = line.find_first_not_of(' ');
  const bool object = line.starts_with('{');
  if (!object && (begin == std::string_view::npos || !begins_with_message(line.substr(begin)))) return out;
  bool found = false;
  bool example = object;
  std::string key;
  for (std::size_t at = line.find('"'); at < line.size(); at = line.find('"', at)) {
    Text text = string_at(line, at + 1);
    at = skip_blanks(line, text.end);
    const bool names = key.empty() && at < line.size() && line[at] == ':';
    if (names) {
      example = example && is_of_example(text.text);
      at = skip_blanks(line, at + 1);
      const char value = at < line.size() ? line[at] : ' ';
      if (value == '"') key = std::move(text.text);
      if (value == '[' && text.text == "MESSAGE") out.push_back(bytes_at(line, at + 1));
      found = found || (value == '[' && text.text == "MESSAGE" && !out.back().empty());
      continue;
    }
    const bool message = is_message(key);
    found = found || message;
    if (message || text.lines) out.push_back(std::move(text.text));
    key.clear();
  }
  return found && !example ? out : std::vector<std::string>();
}

}  // namespace oomplan::diagnose
