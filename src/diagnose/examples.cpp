#include "examples.hpp"

#include <algorithm>
#include <string>

#include "code.hpp"
#include "reader.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

// What is said near it, where the line is a whole log whose line breaks were lost.
std::string_view near(std::string_view line, std::string_view text, std::size_t at) {
  constexpr std::size_t before = 240;
  constexpr std::size_t after = 480;
  const std::size_t place =
      std::min(at - std::min(at, static_cast<std::size_t>(line.data() - text.data())), line.size());
  const std::size_t begin = place - std::min(place, before);
  return line.substr(begin, place - begin + after);
}

std::string_view without_end(std::string_view text, std::string_view signs) {
  while (!text.empty() && signs.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

// "Example errors" over messages that a page of help shows.
bool heads_examples(std::string_view text) {
  constexpr std::size_t longest = 40;
  while (text.starts_with('#') || text.starts_with(' ') || text.starts_with('*')) text.remove_prefix(1);
  if (text.size() > longest || text.find("rror") == std::string_view::npos) return false;
  return text.starts_with("Example") || text.starts_with("Sample");
}

bool is_below_examples(const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t most_lines = 40;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header || !lines[i].time.empty()) return false;
    if (heads_examples(lines[i].body)) return true;
  }
  return false;
}

// "a message like the following will be sent:", "you will see errors such as:" over the whole of what would be seen;
// "we get an error like this:" tells of one that came. "find errors like:" stands over several lines of what is
// printed.
bool supposes(const Wordings& wordings, std::string_view text) {
  if (!text.ends_with(':') || words_of(text).writer) return false;
  const Phrases& shown = list_of(wordings, Wording::shows_messages);
  return shown.have(text) || (shown.are_in(text) && list_of(wordings, Wording::supposes).are_in(text));
}

// In the paragraph, or the fence, below such a line.
bool is_supposed(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t most_lines = 12;
  bool above = false;  // the lines of its own paragraph are passed
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header || !lines[i].time.empty()) return false;
    const std::string_view text = without_end(lines[i].body, " `*");
    if (text.empty()) {
      above = true;
      continue;
    }
    if (above) return supposes(wordings, text);
  }
  return false;
}

// Without the quotes, and the level or the exception's name, in front of the words of a failure.
std::string_view without_labels(std::string_view lead) {
  for (std::size_t before = lead.size() + 1; lead.size() < before;) {
    before = lead.size();
    lead = without_end(lead, " \"'`(*");
    const std::size_t blank = lead.rfind(' ');
    const std::string_view word = blank == std::string_view::npos ? lead : lead.substr(blank + 1);
    if (word.ends_with(':')) lead.remove_suffix(word.size());
  }
  return lead;
}

// What is said since the last sign that ends a sentence, or a title's half.
std::string_view last_clause(std::string_view lead) {
  for (const std::string_view sign : {". "sv, ": "sv, "? "sv, "! "sv, "\xE2\x80\x94 "sv, "\xE2\x80\xA2 "sv}) {
    const std::size_t at = lead.rfind(sign);
    if (at != std::string_view::npos) lead.remove_prefix(at + sign.size());
  }
  lead.remove_prefix(std::min(lead.find_first_not_of(" #*->"), lead.size()));
  return lead;
}

// "Run this when a rank dies with …", "When a pod fails for a reason (…", "A worker raises …": of any that may, where a
// program tells of its own.
bool tells_of_any(const Wordings& wordings, std::string_view lead) {
  const std::string_view own = last_clause(lead);
  const Phrases& fails = list_of(wordings, Wording::fails_with);
  const Phrases& any = list_of(wordings, Wording::of_any_run);
  const bool at_once = fails.have(own);
  return (at_once && any.have(own)) || (any.are_in(own) && (at_once || fails.are_in(own)) && !words_of(own).writer);
}

// "For |OOMKilled|: use more memory than …": what is to be done then.
bool is_of_that_case(const Wordings& wordings, std::string_view lead, std::string_view rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of("`\"'*)"), rest.size()));
  const bool goes_on = rest.starts_with(": ") || rest.starts_with(", ");
  return goes_on && words_of(rest).function > 0 && list_of(wordings, Wording::in_that_case).have(last_clause(lead));
}

// "Resolving OOMKilled and other errors": the title of a page that helps.
bool is_under_title_of_help(const Wordings& wordings, std::string_view lead) {
  const std::string_view own = last_clause(lead);
  constexpr std::size_t longest = 40;
  return own.size() <= longest && list_of(wordings, Wording::titles_of_help).have(own.substr(0, own.find(' ')));
}

// "encountering error messages like “…” can …", "it usually appears as …": a kind of failure is named, and none of the
// writer's own.
bool names_how_it_looks(const Wordings& wordings, std::string_view lead) {
  return list_of(wordings, Wording::names_how_it_looks).have(lead) && !words_of(lead).writer;
}

// "- ", "* ", "1. "
bool is_item(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0) return text.substr(digits).starts_with(". ");
  return text.starts_with("- ") || text.starts_with("* ");
}

// A fence of ``` and a blank line may stand between, and what else is listed there.
bool is_led_to(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t most_lines = 3;
  constexpr std::size_t most_items = 8;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines;) {
    std::string_view text = lines[i].body;
    text.remove_prefix(std::min(text.find_first_not_of("+ "), text.size()));  // of a diff
    text = without_end(text, " `*");
    if (lines[i].file != lines[index].file || lines[i + 1].header) return false;
    if (has_bar(text) || lines[i].rank != lines[index].rank) continue;  // said between
    if (is_item(text) && i + most_items > index) continue;
    ++seen;
    if (!text.empty() && text.find_first_not_of('`') != std::string_view::npos)
      return text.ends_with(':') && list_of(wordings, Wording::leads_to_an_example).are_in(text) &&
             !words_of(text).writer;
  }
  return false;
}

}  // namespace

bool explains(const Wordings& wordings, std::string_view text) {
  if (list_of(wordings, Wording::says_what_may_come).are_in(text)) return true;
  const std::string small = lowered(text);
  constexpr std::string_view supposed = "if a ";
  constexpr std::string_view printed =
      "if a warning log message was printed";  // TensorFlow: "…, so try looking to see"
  for (std::size_t at = small.find(supposed); at != std::string::npos; at = small.find(supposed, at + 1))
    if (!std::string_view(small).substr(at).starts_with(printed)) return true;
  return false;
}

bool stands_as_example(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index, std::size_t begin,
                       std::size_t end) {
  const std::string_view body = lines[index].body;
  const std::string_view before = body.substr(0, std::min(begin, body.size()));
  const std::string_view lead = without_labels(before);
  const std::string_view rest = end < body.size() ? body.substr(end) : std::string_view();
  if (names_how_it_looks(wordings, lead) || tells_of_any(wordings, lead) || is_under_title_of_help(wordings, before) ||
      is_of_that_case(wordings, lead, rest))
    return true;
  const std::string_view line = near(line_around(body, begin), body, begin);
  return shows_code(line) || explains(wordings, line) || is_below_examples(lines, index) ||
         is_supposed(wordings, lines, index) || is_led_to(wordings, lines, index);
}

}  // namespace oomplan::diagnose
