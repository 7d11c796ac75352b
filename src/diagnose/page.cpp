#include "page.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/text.hpp"
#include "titles.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t most_lines = 400;
constexpr std::size_t longest_heading = 60;
constexpr std::size_t lines_of_a_top = 3;
constexpr std::size_t lines_after = 12;  // of a message, what to do about it

// Of Markdown's "## Title"; 0 for a line that is none.
std::size_t level_of(const Line& line) {
  if (line.titled) return 1;
  std::string_view text = line.body;
  if (text.starts_with("+#")) text.remove_prefix(1);  // of a diff
  const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
  return level <= 6 && level < text.size() && text[level] == ' ' ? level : 0;
}

// Without what stands around a title: "## 5. Troubleshooting".
std::string title_of(std::string_view text, std::string_view around) {
  if (text.size() > longest_heading || text.find('?') != std::string_view::npos) return {};
  const std::size_t first = text.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return lowered(text.substr(first, text.find_last_not_of(around) + 1 - first));
}

// "## 5. Troubleshooting", or "Troubleshooting" alone on its line; "Known issues: /scratch is slow" is a banner.
bool heads_help(const Wordings& wordings, std::string_view text) {
  const std::string title = title_of(text, "+#*=:_ 0123456789.");
  return !title.empty() && list_of(wordings, Wording::headings_of_help).have(title);
}

// "## Typical Error Messages": whatever stands below, it happened to nobody.
bool heads_messages(const Line& line) {
  const std::string title = title_of(line.body, "+#*=:_ 0123456789.");
  return level_of(line) > 0 && (title == "typical error messages" || title == "example error messages");
}

// "## 1.2.3", "## [Unreleased]", "# v2.0.0 (2024-05-01)", "### Fixed"
bool heads_changes(const Line& line) {
  constexpr std::array sections{"unreleased"sv, "fixed"sv,      "added"sv,     "changed"sv,   "removed"sv,
                                "security"sv,   "deprecated"sv, "bug fixes"sv, "changelog"sv, "release notes"sv};
  if (level_of(line) == 0) return false;
  const std::string title = title_of(line.body, "#*=:_ []");
  if (title.empty()) return false;
  if (std::ranges::find(sections, title) != sections.end()) return true;
  const std::size_t begin = title.front() == 'v' ? 1 : 0;
  const std::size_t end = std::min(title.find_first_not_of("0123456789.", begin), title.size());
  const auto dots = std::ranges::count(std::string_view(title).substr(begin, end - begin), '.');
  return dots >= 1 && end - begin >= 3 && (end == title.size() || " ])-"sv.find(title[end]) != std::string_view::npos);
}

// "Fixed a leak that …" before the words of a failure; what a program reports begins with these words, or with a level
// and the exception's name ("ERROR torch.OutOfMemoryError: ").
bool says_what_was_done(std::string_view before) {
  while (!before.empty()) {
    const std::size_t first = std::min(before.find_first_not_of(' '), before.size());
    before.remove_prefix(first);
    const std::string_view word = before.substr(0, before.find(' '));
    before.remove_prefix(word.size());
    if (lowered(word).starts_with("fix")) return true;
    const bool plain = std::ranges::all_of(word, is_letter) && word.size() > 1;
    const bool small = std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    if (plain && small) return true;
  }
  return false;
}

// "a1b2c3d Fix …", "* a1b2c3d Fix …": a commit's name has digits and letters; empty where there is none.
std::string_view commit_of(const Line& line) {
  constexpr std::size_t shortest = 7;
  constexpr std::size_t longest = 40;
  std::string_view text = line.body;
  while (text.starts_with("* ") || text.starts_with("| ")) text.remove_prefix(2);
  const std::string_view name = text.substr(0, text.find(' '));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_hex = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  const bool fits = name.size() >= shortest && name.size() <= longest && name.size() < text.size();
  if (!fits || !std::ranges::all_of(name, is_hex) || std::ranges::all_of(name, is_digit) ||
      std::ranges::none_of(name, is_digit))
    return {};
  return name;
}

bool is_of_a_program(const Line& line) {
  return !line.time.empty() || (line.prefixed && !line.titled) || line.rank || has_bar(line.body) ||
         line.body.starts_with("Traceback (") || line.body.starts_with("File \"");
}

// What a program writes has levels, frames and what it counts.
bool is_reported(const Line& line) {
  constexpr std::array words{"INFO"sv,   "WARN"sv,      "ERROR"sv,   "DEBUG"sv, "CRITICAL"sv, "FATAL"sv, "info"sv,
                             "error:"sv, "Traceback"sv, "File \""sv, "step "sv, "Error:"sv,   "="sv};
  return is_of_a_program(line) ||
         std::ranges::any_of(words, [&](std::string_view word) { return line.body.find(word) != std::string::npos; });
}

// Each line of `git log` has a name of its own, of one length, and none begins as another; counters and the ids of
// containers and requests do.
bool is_of_log_of_commits(const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t fewest = 3;
  const std::size_t first = index >= fewest - 1 ? index - (fewest - 1) : 0;
  for (std::size_t begin = first; begin <= index; ++begin) {
    std::vector<std::string_view> names;
    for (std::size_t i = begin; i < std::min(begin + fewest, lines.size()); ++i) {
      const std::string_view name = lines[i].file == lines[index].file ? commit_of(lines[i]) : std::string_view();
      const bool another =
          std::ranges::none_of(names, [&](std::string_view other) { return other.substr(0, 2) == name.substr(0, 2); });
      if (name.empty() || is_reported(lines[i])) break;
      if (another && (names.empty() || names[0].size() == name.size())) names.push_back(name);
    }
    if (names.size() == fewest) return true;
  }
  return false;
}

bool is_advice(std::string_view sentence) {
  constexpr std::array beginnings{
      "reduce "sv, "increase "sv, "lower "sv,  "set "sv,     "try "sv,       "use "sv,
      "add "sv,    "delete "sv,   "check "sv,  "a: "sv,      "make sure "sv, "if you "sv,
      "you "sv,    "raise "sv,    "if the "sv, "if your "sv, "don't "sv,     "don\xE2\x80\x99t "sv};
  const std::string said = lowered(sentence.substr(0, 16)) + ' ';  // the line may end behind the word
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return said.starts_with(one); });
}

// A page tells its reader what to do; a banner's "Node 7 is slow. Use another." is no such line.
bool advises(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t>*-");
  return first != std::string_view::npos && is_advice(text.substr(first));
}

// "My model reports …" right below "Frequently asked questions" is a question, whoever it is put to.
bool is_first_question(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t longest = 100;
  if (lines[index].body.size() > longest || lines[index].body.ends_with('.')) return false;
  for (std::size_t i = index; i-- > 0 && lines[i].file == lines[index].file;)
    if (!lines[i].body.empty()) return heads_help(wordings, lines[i].body);
  return false;
}

bool tells_of_himself(std::string_view text) {
  return text.find('?') == std::string_view::npos && words_of(text).writer;
}

bool is_at_the_top(const std::vector<Line>& lines, std::size_t index) {
  for (std::size_t i = index, seen = 0; i-- > 0 && lines[i].file == lines[index].file;)
    if (!lines[i].body.empty() && ++seen > lines_of_a_top) return false;
  return true;
}

bool gives_advice(const std::vector<Line>& lines, std::size_t heading, std::size_t index) {
  for (std::size_t i = heading + 1; i < std::min(index + lines_after, lines.size()); ++i) {
    if (lines[i].file != lines[index].file) return false;
    if (i != index && !is_of_a_program(lines[i]) && advises(lines[i].body)) return true;
  }
  return false;
}

}  // namespace

bool HelpPages::is_of_no_page(std::size_t index) {
  enum : std::uint8_t { unseen, no, yes };
  if (known_.empty()) known_.assign(lines_.size(), unseen);
  std::uint8_t& known = known_[index];
  if (known == unseen) {
    const bool own = tells_of_himself(lines_[index].body) && !is_first_question(wordings_, lines_, index);
    known = is_of_a_program(lines_[index]) || own ? yes : no;
  }
  return known == yes;
}

// The first of two titles and more, where no line of the file is a program's that runs.
std::size_t HelpPages::first_title(int file) {
  const auto known = titled_at_.find(file);
  if (known != titled_at_.end()) return known->second;
  std::size_t first = lines_.size();
  std::set<std::string> titles;
  const bool runs = std::ranges::any_of(lines_, [&](const Line& line) {
    return line.file == file && (!line.time.empty() || line.rank || has_bar(line.body));
  });
  for (std::size_t i = 0; i < lines_.size() && !runs; ++i) {
    if (lines_[i].file != file) continue;
    std::string title = explaining_title(wordings_, lines_[i].body);
    if (title.empty()) continue;
    first = std::min(first, i);
    titles.insert(std::move(title));
  }
  if (titles.size() < 2) first = lines_.size();
  return titled_at_[file] = first;
}

// Below its first title, or in the name of the page; what stands there with figures is a report that is answered below.
bool HelpPages::is_on_titled_page(std::size_t index) {
  const std::size_t first = first_title(lines_[index].file);
  if (first == lines_.size()) return false;
  if (first < index) return true;
  return is_at_the_top(lines_, index) && lines_[index].body.find_first_of("0123456789") == std::string::npos;
}

bool HelpPages::holds(std::size_t index) {
  if (is_on_titled_page(index)) return true;
  std::size_t least = 7;  // of the headings below
  for (std::size_t i = index + 1, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    const Line& line = lines_[i];
    if (line.file != lines_[index].file || is_of_no_page(i)) return false;
    const std::size_t level = level_of(line);
    if (heads_messages(line) && level < least) return true;
    if (heads_help(wordings_, line.body)) {
      return (level > 0 ? level < least : is_at_the_top(lines_, i)) && gives_advice(lines_, i, index);
    }
    if (level > 0) least = std::min(least, level);
    if (i > 0 && line.header) return false;
  }
  return false;
}

namespace {

// What is said behind "fix: " or "perf(loader)!: ", as the convention has it; empty for another line.
std::string_view behind_commit_kind(std::string_view text) {
  constexpr std::array kinds{"fix"sv,  "feat"sv, "perf"sv, "refactor"sv, "chore"sv,
                             "docs"sv, "test"sv, "ci"sv,   "build"sv};
  for (const std::string_view kind : kinds) {
    if (!text.starts_with(kind)) continue;
    std::string_view rest = text.substr(kind.size());
    if (rest.starts_with('(')) rest.remove_prefix(std::min(rest.find(')') + 1, rest.size()));
    if (rest.starts_with('!')) rest.remove_prefix(1);
    if (rest.starts_with(": ")) return rest.substr(2);
  }
  return {};
}

// "- fix: no more …" in a list; without a mark the title of a change, "ci: Disable the test that throws …", which tells
// what to do and stands first.
bool is_of_commit_kind(const std::vector<Line>& lines, std::size_t index) {
  constexpr std::array doing{"add"sv,      "fix"sv,    "disable"sv, "enable"sv, "remove"sv,  "avoid"sv, "handle"sv,
                             "prevent"sv,  "reduce"sv, "free"sv,    "use"sv,    "update"sv,  "skip"sv,  "catch"sv,
                             "increase"sv, "raise"sv,  "bump"sv,    "allow"sv,  "improve"sv, "make"sv,  "revert"sv};
  std::string_view text = lines[index].body;
  if (text.starts_with("- ") || text.starts_with("* ")) return !behind_commit_kind(text.substr(2)).empty();
  const std::string_view said = behind_commit_kind(text);
  const std::string verb = lowered(said.substr(0, said.find(' ')));
  if (std::ranges::find(doing, verb) == doing.end()) return false;
  for (std::size_t i = index; i-- > 0 && lines[i].file == lines[index].file;)
    if (!lines[i].body.empty()) return false;
  return true;
}

// "- Closes #12", "Fixes #[…]": of a report that stands elsewhere.
bool names_a_report(std::string_view before) {
  constexpr std::array words{"closes #"sv, "fixes #"sv, "resolves #"sv, "closed #"sv, "fixed #"sv, "resolved #"sv};
  const std::string said = lowered(before);
  return std::ranges::any_of(words, [&](std::string_view word) { return said.find(word) != std::string::npos; });
}

}  // namespace

bool stands_in_history(const std::vector<Line>& lines, std::size_t index, std::size_t begin) {
  const std::string_view text = lines[index].body;
  if (is_of_commit_kind(lines, index) || names_a_report(text.substr(0, std::min(begin, text.size())))) return true;
  const std::string_view commit = commit_of(lines[index]);
  if (!commit.empty()) {
    const auto item = static_cast<std::size_t>(commit.data() - text.data()) + commit.size();
    return item < begin && says_what_was_done(text.substr(item, begin - item)) && is_of_log_of_commits(lines, index);
  }
  if (!text.starts_with("- ") && !text.starts_with("* ")) return false;
  if (begin < 2 || !says_what_was_done(text.substr(2, begin - 2))) return false;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header || lines[i].body.starts_with("Traceback ("))
      return false;
    if (heads_changes(lines[i])) return true;
    if (level_of(lines[i]) > 0) return false;
  }
  return false;
}

}  // namespace oomplan::diagnose
