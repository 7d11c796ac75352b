#include "prose.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Words that a language's sentences are held together by, and that logs mostly do without.
constexpr std::array function_words{
    "a"sv,     "an"sv,    "the"sv,   "is"sv,   "was"sv,   "were"sv,  "are"sv,     "be"sv,    "been"sv,
    "am"sv,    "it"sv,    "its"sv,   "they"sv, "their"sv, "this"sv,  "that"sv,    "these"sv, "those"sv,
    "and"sv,   "or"sv,    "but"sv,   "so"sv,   "when"sv,  "while"sv, "because"sv, "if"sv,    "which"sv,
    "who"sv,   "what"sv,  "why"sv,   "how"sv,  "can"sv,   "could"sv, "will"sv,    "would"sv, "should"sv,
    "may"sv,   "might"sv, "must"sv,  "do"sv,   "does"sv,  "did"sv,   "has"sv,     "have"sv,  "had"sv,
    "of"sv,    "to"sv,    "in"sv,    "on"sv,   "with"sv,  "as"sv,    "by"sv,      "for"sv,   "from"sv,
    "than"sv,  "then"sv,  "there"sv, "not"sv,  "no"sv,    "also"sv,  "just"sv,    "some"sv,  "any"sv,
    "about"sv, "i"sv,     "my"sv,    "me"sv,   "we"sv,    "our"sv,   "you"sv,     "your"sv};

constexpr std::array of_people{"i"sv, "my"sv, "me"sv, "we"sv, "our"sv, "you"sv, "your"sv, "i'm"sv, "i've"sv};

// What a sentence goes on from into words that it quotes or names.
constexpr std::array leading_in{
    "in"sv,     "on"sv,     "then"sv,    "a"sv,       "an"sv,      "the"sv,      "of"sv,     "is"sv,     "was"sv,
    "were"sv,   "are"sv,    "be"sv,      "been"sv,    "being"sv,   "get"sv,      "gets"sv,   "got"sv,    "getting"sv,
    "see"sv,    "seeing"sv, "saw"sv,     "say"sv,     "says"sv,    "said"sv,     "saying"sv, "with"sv,   "because"sv,
    "like"sv,   "as"sv,     "this"sv,    "that"sv,    "these"sv,   "those"sv,    "my"sv,     "your"sv,   "our"sv,
    "its"sv,    "any"sv,    "some"sv,    "no"sv,      "same"sv,    "and"sv,      "or"sv,     "to"sv,     "from"sv,
    "for"sv,    "by"sv,     "about"sv,   "avoid"sv,   "avoids"sv,  "cause"sv,    "causes"sv, "caused"sv, "causing"sv,
    "hit"sv,    "hits"sv,   "hitting"sv, "have"sv,    "has"sv,     "had"sv,      "throws"sv, "throw"sv,  "raise"sv,
    "raises"sv, "mean"sv,   "means"sv,   "called"sv,  "if"sv,      "when"sv,     "type"sv,   "common"sv, "random"sv,
    "into"sv,   "where"sv,  "often"sv,   "usually"sv, "always"sv,  "still"sv,    "print"sv,  "prints"sv, "show"sv,
    "shows"sv,  "report"sv, "reports"sv, "not"sv,     "message"sv, "messages"sv, "error"sv,  "errors"sv};

// Who speaks in a conversation, and the keys of one or of an example that a model is trained with: two of a line.
constexpr std::array speakers{
    "user:"sv,     "human:"sv,       "assistant:"sv,  "question:"sv,     "answer:"sv,      "q:"sv,
    "a:"sv,        "<|user|>"sv,     "[inst]"sv,      "<|assistant|>"sv, "<|im_start|>"sv, "### instruction"sv,
    "### human"sv, "### response"sv, "### question"sv};
constexpr std::array members{"\"role\":"sv,   "\"content\":"sv,    "\"prompt\":"sv,   "\"instruction\":"sv,
                             "\"input\":"sv,  "\"completion\":"sv, "\"question\":"sv, "\"answer\":"sv,
                             "\"output\":"sv, "\"response\":"sv,   "\"chosen\":"sv,   "\"rejected\":"sv};

constexpr std::array levels{"error"sv, "warn"sv, "info"sv, "fatal"sv, "critical"sv, "debug"sv, "e "sv, "w "sv, "f "sv};

bool is_in(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Words {
  int function = 0;
  int people = 0;
  bool first_person = false;
  std::string last{};
  bool last_begins = false;  ///< It has a capital: "The paging file …" begins a report.
};

// Letters alone make a word: "gpu_0", "torch.cuda" and paths are none of a language.
Words words_of(std::string_view text) {
  Words out;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const auto sign = [](char c) { return !letter(c) && static_cast<unsigned char>(c) < 0x80; };
    while (!word.empty() && sign(word.front())) word.remove_prefix(1);
    while (!word.empty() && sign(word.back())) word.remove_suffix(1);
    if (word.empty() || !std::all_of(word.begin(), word.end(), [](char c) { return letter(c) || c == '\''; })) continue;
    out.last = small(word);
    out.last_begins = std::isupper(static_cast<unsigned char>(word.front())) != 0;
    out.function += is_in(function_words, out.last) ? 1 : 0;
    out.people += is_in(of_people, out.last) ? 1 : 0;
    out.first_person = out.first_person || out.last == "i" || out.last == "my" || out.last == "i'm";
  }
  return out;
}

// "torch.cuda.OutOfMemoryError: " and quotes belong to what is quoted.
std::string_view without_opening(std::string_view lead) {
  for (std::size_t before = lead.size() + 1; lead.size() < before;) {
    before = lead.size();
    while (!lead.empty() && " \n`'\"*([{<|"sv.find(lead.back()) != std::string_view::npos) lead.remove_suffix(1);
    if (!lead.ends_with(':')) continue;
    const std::string_view word = lead.substr(lead.rfind(' ') + 1);
    if (word.ends_with("Error:") || word.ends_with("Exception:")) lead.remove_suffix(word.size());
  }
  return lead;
}

bool begins_with_level(std::string_view text) {
  while (text.starts_with('[') || text.starts_with('(')) text.remove_prefix(1);
  const std::string begin = small(text.substr(0, 16));
  return std::any_of(levels.begin(), levels.end(), [&](std::string_view level) {
    return begin.starts_with(level) && (level.ends_with(' ') || begin.size() == level.size() ||
                                        " :]|)-"sv.find(begin[level.size()]) != std::string_view::npos);
  });
}

bool names_speaker(std::string_view lead) {
  const std::string text = small(lead);
  return std::any_of(speakers.begin(), speakers.end(), [&](std::string_view who) {
    const std::size_t at = text.find(who);
    return at != std::string::npos && (at == 0 || (at > 1 && text[at - 1] == ' ' && text[at - 2] == ']'));
  });
}

bool begins_with_speaker(std::string_view text) {
  const std::string begin = small(text.substr(0, 20));
  return std::any_of(speakers.begin(), speakers.end(), [&](std::string_view who) { return begin.starts_with(who); });
}

constexpr std::array keys_of_logs{"\"level\":"sv,      "\"severity\":"sv,  "\"levelname\":"sv, "\"lvl\":"sv,
                                  "\"exc_info\":"sv,   "\"traceback\":"sv, "\"stack\":"sv,     "\"timestamp\":"sv,
                                  "\"@timestamp\":"sv, "\"ts\":"sv};

// One line of a data set holds the whole conversation; it was taken apart at its line ends.
bool is_member(const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t most_pieces = 40;
  const auto same = [&](std::size_t i) {
    return i < lines.size() && lines[i].file == lines[index].file && lines[i].number == lines[index].number;
  };
  if (lines[index].column == 0 && lines[index].body.find('"') == std::string::npos) return false;
  std::size_t first = index;
  while (first > 0 && index - first < most_pieces && same(first - 1)) --first;
  std::size_t last = index;
  while (last - index < most_pieces && same(last + 1)) ++last;
  const auto holds = [&](std::string_view key) {
    for (std::size_t i = first; i <= last; ++i)
      if (lines[i].body.find(key) != std::string::npos) return true;
    return false;
  };
  return std::ranges::count_if(members, holds) >= 2 && std::ranges::none_of(keys_of_logs, holds);
}

bool follows_speaker(const std::vector<Line>& lines, std::size_t index) {
  constexpr std::size_t most_lines = 3;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header || lines[i].prefixed) return false;
    if (begins_with_speaker(lines[i].body)) return true;
  }
  return false;
}

bool is_text_line(const std::vector<Line>& lines, std::size_t index, std::size_t of) {
  constexpr int enough = 5;
  if (index >= lines.size() || lines[index].file != lines[of].file || lines[index].prefixed) return false;
  return words_of(lines[index].body).function >= enough;
}

bool stands_in_text(const std::vector<Line>& lines, std::size_t index) {
  return (index > 0 && is_text_line(lines, index - 1, index)) || is_text_line(lines, index + 1, index) ||
         (index > 1 && is_text_line(lines, index - 2, index)) || is_text_line(lines, index + 2, index);
}

bool begins_with_any(std::string_view text, const auto& words) {
  while (!text.empty() && !letter(text.front())) text.remove_prefix(1);
  const std::string begin = small(text.substr(0, 12));
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return begin.starts_with(word); });
}

// "Why is my pod …?", "If the kernel logs …"
constexpr std::array asking{"why "sv,  "how "sv, "what "sv, "when "sv, "where "sv,
                            "does "sv, "is "sv,  "can "sv,  "do "sv};
constexpr std::array supposing{"if "sv, "when "sv, "whenever "sv};

// An item of a list that goes on, or begins, in a language's words: "- retry on …", "- … when the model is loaded".
bool is_in_item(std::string_view text, std::string_view lead, std::string_view rest) {
  if (!text.starts_with("- ") && !text.starts_with("* ")) return false;
  const bool first = words_of(lead).last.empty();
  return first ? words_of(rest.substr(0, rest.find('.'))).function >= 2 : letter(lead.back());
}

// A row of a table with an explanation in another cell.
bool is_in_row(std::string_view text, std::string_view rest) {
  if (!text.starts_with('|') || !text.ends_with('|') || rest.find('|') == std::string_view::npos) return false;
  return words_of(rest.substr(rest.find('|'))).function >= 2;
}

}  // namespace

bool stands_in_prose(const std::vector<Line>& lines, std::size_t index, std::size_t begin, std::size_t end) {
  const Line& line = lines[index];
  const std::string_view text = line.body;
  if (is_member(lines, index)) return true;
  const std::string_view lead = without_opening(text.substr(0, std::min(begin, text.size())));
  const std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  const Words before = words_of(lead);
  if ((!line.time.empty() || begins_with_level(text)) && !before.first_person) return false;
  if (names_speaker(lead) || follows_speaker(lines, index)) return true;
  const Words after = words_of(rest);
  const int function = before.function + after.function;
  const bool asks = rest.find('?') != std::string_view::npos;
  if (asks && (after.function >= 2 || (function >= 2 && begins_with_any(lead, asking)))) return true;
  if (function >= 2 && begins_with_any(lead, supposing)) return true;
  if (is_in_row(text, rest) || is_in_item(text, lead, rest)) return true;
  if (lead.empty() || before.last_begins || !is_in(leading_in, before.last)) return false;
  const bool announced =
      lead.ends_with(':') || (begin < text.size() && text[begin] == ':');  // of some sentences' words
  if (announced) return before.people > 0 && before.function >= 2;
  if (!letter(lead.back())) return false;
  return function >= 3 || (before.people > 0 && function >= 2) || (function >= 1 && stands_in_text(lines, index));
}

bool names_a_kind(std::string_view text, std::size_t end) {
  constexpr std::array kinds{"errors"sv,   "issues"sv,   "problems"sv, "conditions"sv, "exceptions"sv,
                             "crashes"sv,  "kills"sv,    "killer"sv,   "situations"sv, "events"sv,
                             "failures"sv, "messages"sv, "pods"sv,     "containers"sv};
  std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  while (!rest.empty() && (" -'\"`)*"sv.find(rest.front()) != std::string_view::npos || rest.starts_with("(OOM")))
    rest.remove_prefix(rest.starts_with("(OOM") ? 4 : 1);
  if (rest.starts_with("error ")) rest.remove_prefix(6);  // "out of memory error messages"
  return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
    return rest.starts_with(kind) && (rest.size() == kind.size() || !letter(rest[kind.size()]));
  });
}

}  // namespace oomplan::diagnose
