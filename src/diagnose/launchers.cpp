#include <algorithm>
#include <string_view>

#include "judge.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t lines_at_each_end = 400;
constexpr std::size_t most_questions = 5;

// The head has the command, the end has what the launcher said.
template <class Do>
void for_ends(const std::vector<Line>& lines, Do look) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i < lines_at_each_end || i + lines_at_each_end >= lines.size()) look(lines[i]);
}

// A line's source and what it says stand on a line each.
std::string text_of_ends(const std::vector<Line>& lines) {
  std::string out;
  for_ends(lines, [&](const Line& line) { out.append(line.source).append("\n").append(line.body).append("\n"); });
  return out;
}

bool ran(const LauncherText& launcher, std::string_view ends) {
  return std::ranges::any_of(launcher.signs, [&](const std::string& sign) { return ends.find(sign) != ends.npos; });
}

std::string_view word_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < 64) {
    const auto c = static_cast<unsigned char>(text[end]);
    const bool part = (c >= '0' && c <= '9') || ((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z') || c == '-' || c == '_';
    if (!part && !(c == '.' && end + 1 < text.size() && text[end + 1] != ' ')) break;
    ++end;
  }
  return text.substr(0, end);
}

std::string name_in(const LauncherText& launcher, const std::vector<Line>& lines) {
  std::string out;
  for (const std::string& before : launcher.names) {
    for_ends(lines, [&](const Line& line) {
      const std::string text = line.source + " " + line.body;
      const std::size_t at = out.empty() ? text.find(before) : std::string::npos;
      if (at != std::string::npos) out = word_at(std::string_view(text).substr(at + before.size()));
    });
  }
  return out.empty() ? launcher.placeholder : out;
}

std::string filled(std::string text, const std::string& name) {
  constexpr std::string_view hole = "{name}";
  for (std::size_t at = text.find(hole); at != std::string::npos; at = text.find(hole, at + name.size()))
    text.replace(at, hole.size(), name);
  return text;
}

}  // namespace

Questions questions(const Rules& rules, const Case& c) {
  Questions out;
  const std::string ends = text_of_ends(*c.lines);
  for (const LauncherText& launcher : rules.launchers) {
    if (!ran(launcher, ends)) continue;
    const std::string name = name_in(launcher, *c.lines);
    for (const std::string& ask : launcher.ask)
      if (out.first.size() < most_questions) out.first.push_back(filled(ask, name));
    out.alone = out.alone || launcher.alone;
  }
  if (!out.first.empty()) return out;
  for (const LauncherText& launcher : rules.launchers)
    if (launcher.signs.empty()) out.last.insert(out.last.end(), launcher.ask.begin(), launcher.ask.end());
  return out;
}

}  // namespace oomplan::diagnose
