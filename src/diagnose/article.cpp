#include "article.hpp"

#include <set>
#include <string>
#include <string_view>

#include "reader.hpp"
#include "titles.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

constexpr int most_lines_of_programs = 12;  // that an article shows
constexpr std::size_t most_lines = 2000;

bool is_own(const Wordings& wordings, std::string_view text, const Phrasing& line) {
  const auto has = [&](Wording list) { return list_of(wordings, list).are_in(line); };
  if (has(Wording::tells_of_own_run) || has(Wording::heads_a_report)) return true;
  return words_of(text).first_person && !has(Wording::speaks_of_itself);
}

// "loss: 0.31", "'loss': 0.31", "loss=0.31"
bool is_step(std::string_view text) {
  constexpr std::string_view name = "loss";
  const std::size_t at = text.find(name);
  if (at == text.npos) return false;
  const std::string_view rest = text.substr(at + name.size());
  const std::size_t value = rest.find_first_not_of("':= \"");
  return value != rest.npos && value > 0 && rest[value] >= '0' && rest[value] <= '9';
}

bool is_of_a_program(const Line& line) {
  return !line.time.empty() || line.rank || has_bar(line.body) || line.body.starts_with("Traceback (") ||
         is_frame(line.body) || is_step(line.body);
}

// What was found of each kind, every phrase once.
struct Signs {
  std::set<std::string_view> of_itself{};
  std::set<std::string_view> to_all{};
  std::set<std::string_view> defining{};
  std::set<std::string_view> explaining{};
  std::set<std::string> titles{};
  bool of_change = false;
  int to_reader = 0;  ///< Lines that say "you" or "your".
  int function = 0;   ///< Of the words that hold sentences together,
  int written = 0;    ///< and the lines that are not empty.

  void look(const Wordings& wordings, std::string_view text, const Phrasing& line) {
    const auto list = [&](Wording name) -> const Phrases& { return list_of(wordings, name); };
    list(Wording::speaks_of_itself).find(line, of_itself);
    list(Wording::speaks_to_all).find(line, to_all);
    list(Wording::defines).find(line, defining);
    list(Wording::explains).find(line, explaining);
    of_change = of_change || list(Wording::tells_of_changes).are_in(line);
    if (std::string title = explaining_title(wordings, text); !title.empty()) titles.insert(std::move(title));
    const Words words = words_of(text);
    const bool addressed = text.find(" you'") != text.npos || text.starts_with("You'");
    if ((words.people > 0 || addressed) && !words.writer) ++to_reader;
    if (text.empty() || begins_with_exception(text)) return;  // whose sentences are a program's
    function += words.function;
    ++written;
  }

  int page() const {
    return 2 * static_cast<int>(of_itself.size()) + static_cast<int>(to_all.size() + titles.size() + defining.size());
  }
  int all() const { return page() + static_cast<int>(explaining.size()) + (to_reader >= 2 ? 1 : 0); }

  /// Whether it says what it is, or what a failure stands for; a banner and a site's menu have the other phrases too.
  bool is_sure() const { return !of_itself.empty() || !defining.empty() || !titles.empty(); }

  /// Sentences of a language fill it: five words in two lines hold them together, and there is more than a remark.
  bool is_prose() const { return function >= 25 && 2 * function >= 5 * written; }
};

Writing writing_of(const Wordings& wordings, const std::vector<Line>& lines, int file) {
  Signs signs;
  int of_programs = 0;
  std::size_t seen = 0;
  for (const Line& line : lines) {
    if (line.file != file) continue;
    const Phrasing phrasing(line.body);
    if (++seen > most_lines || is_own(wordings, line.body, phrasing)) return Writing::other;
    if (is_of_a_program(line) && ++of_programs > most_lines_of_programs) return Writing::other;
    signs.look(wordings, line.body, phrasing);
  }
  const bool says_so = !signs.of_itself.empty() && signs.written >= 2 * of_programs;  // of itself, whatever it shows
  const bool is_full = signs.all() >= 3 && signs.page() >= 2 && (says_so || signs.all() >= 2 * of_programs);
  const bool is_written = of_programs == 0 && signs.is_prose() && signs.all() >= 2 && signs.page() >= 1;
  if (signs.is_sure() && (is_full || is_written)) return Writing::article;
  const bool talks = signs.of_change || (signs.is_prose() && signs.all() >= 1);
  return of_programs == 0 && talks ? Writing::talk : Writing::other;
}

}  // namespace

Writing Articles::of(int file) {
  const auto known = known_.find(file);
  return known != known_.end() ? known->second : known_[file] = writing_of(wordings_, lines_, file);
}

}  // namespace oomplan::diagnose
