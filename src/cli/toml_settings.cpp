#include "toml_settings.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace oomplan::cli {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

std::string spelled(const std::string& value) {
  return value == "true" || value == "false" || is_number(value) ? value : '"' + value + '"';
}

/// What of "key = value  # why" is the value; nothing where it does not end on its line.
std::optional<std::pair<std::size_t, std::size_t>> value_in(std::string_view line, std::string_view key) {
  const std::size_t equals = line.find('=');
  if (equals == line.npos || trimmed(line.substr(0, equals)) != key) return std::nullopt;
  const std::size_t begin = line.find_first_not_of(blanks, equals + 1);
  if (begin == line.npos || line[begin] == '[' || line[begin] == '{') return std::nullopt;
  const char quote = line[begin];
  if (quote != '"' && quote != '\'')
    return std::pair(begin, std::min(line.find_first_of(" \t\r#", begin), line.size()));
  const std::size_t end = line.find(quote, begin + 1);
  const bool plain = end != line.npos && line.substr(begin, end - begin).find('\\') == line.npos;
  if (!plain || line.substr(begin, 3) == std::string(3, quote)) return std::nullopt;
  return std::pair(begin, end + 1);
}

class TomlText {
 public:
  explicit TomlText(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      lines_.emplace_back(text.substr(0, end + 1));
      text.remove_prefix(end + 1);
    }
  }

  /// False where it is there, and cannot be changed in its line.
  bool set(std::string_view section, std::string_view key, const std::string& value) {
    const auto head = head_of(section);
    if (head == lines_.end()) {
      if (!lines_.empty() && !lines_.back().ends_with('\n')) lines_.back() += '\n';
      lines_.emplace_back("\n");
      lines_.push_back("[" + std::string(section) + "]\n");
      lines_.push_back(row(key, value));
      return true;
    }
    for (auto line = head + 1; line != lines_.end() && !trimmed(*line).starts_with('['); ++line) {
      const std::size_t equals = line->find('=');
      if (equals == line->npos || trimmed(std::string_view(*line).substr(0, equals)) != key) continue;
      const auto place = value_in(std::string_view(*line).substr(0, line->find('\n')), key);
      if (!place) return false;
      line->replace(place->first, place->second - place->first, spelled(value));
      return true;
    }
    if (!head->ends_with('\n')) *head += '\n';
    lines_.insert(head + 1, row(key, value));
    return true;
  }

  std::string text() const {
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }

 private:
  static std::string row(std::string_view key, const std::string& value) {
    return std::string(key) + " = " + spelled(value) + "\n";
  }

  std::vector<std::string>::iterator head_of(std::string_view section) {
    return std::ranges::find_if(lines_, [&](std::string_view line) {
      const std::string_view head = trimmed(line.substr(0, line.find_first_of("#\n")));
      return head.size() > 2 && head.front() == '[' && head.back() == ']' &&
             trimmed(head.substr(1, head.size() - 2)) == section;
    });
  }

  std::vector<std::string> lines_{};
};

}  // namespace

Result<std::string> toml_with(const Document& document, const std::vector<KeyChange>& changes) {
  TomlText text(document.text);
  for (const KeyChange& change : changes) {
    const std::size_t dot = change.key.rfind('.');
    if (dot == change.key.npos || !text.set(change.key.substr(0, dot), change.key.substr(dot + 1), change.value))
      return Diagnostic{.code = "cli/not-written",
                        .message = "the value of " + change.key + " is written over several lines, or elsewhere"};
  }
  return text.text();
}

}  // namespace oomplan::cli
