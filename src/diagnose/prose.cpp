#include "prose.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "quotes.hpp"
#include "reader.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

// The last word before a match, where a sentence quotes or names the words that match.
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

constexpr std::array levels{"error"sv, "warn"sv, "info"sv, "fatal"sv, "critical"sv, "debug"sv, "e "sv, "w "sv, "f "sv};

// "throws a CUDA |out of memory|": what ran out of it.
constexpr std::array kinds_of_memory{" CUDA"sv, " cuda"sv, " GPU"sv, " gpu"sv, " HIP"sv, " XPU"sv, " MPS"sv, " NPU"sv};

// "torch.cuda.OutOfMemoryError: " and quotes belong to what is quoted, and the kind of memory to the words.
std::string_view without_opening(std::string_view lead) {
  for (std::size_t before = lead.size() + 1; lead.size() < before;) {
    before = lead.size();
    while (!lead.empty() && " \n`'\"*([{<|"sv.find(lead.back()) != std::string_view::npos) lead.remove_suffix(1);
    for (const std::string_view kind : kinds_of_memory)
      if (lead.ends_with(kind)) lead.remove_suffix(kind.size());
    if (!lead.ends_with(':')) continue;
    const std::string_view word = lead.substr(lead.rfind(' ') + 1);
    if (word.ends_with("Error:") || word.ends_with("Exception:")) lead.remove_suffix(word.size());
  }
  return lead;
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
  while (!text.empty() && !is_letter(text.front())) text.remove_prefix(1);
  const std::string begin = lowered(text.substr(0, 12));
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
  return first ? words_of(rest.substr(0, rest.find('.'))).function >= 2 : is_letter(lead.back());
}

// A row of a table with an explanation in another cell.
bool is_in_row(std::string_view text, std::string_view rest) {
  if (!text.starts_with('|') || !text.ends_with('|') || rest.find('|') == std::string_view::npos) return false;
  return words_of(rest.substr(rest.find('|'))).function >= 2;
}

// Below the frames of a traceback, up to its exception.
bool ends_traceback(const std::vector<Line>& lines, std::size_t index) {
  if (!below_frame(lines, index)) return false;
  for (std::size_t i = index; i-- > 0 && !is_frame(lines[i].body);)
    if (begins_with_exception(lines[i].body)) return false;
  return true;
}

// What stands before the sentence is another's.
std::string_view own_sentence(std::string_view lead) {
  if (lead.ends_with('.') || lead.ends_with('!')) return {};
  std::size_t begin = 0;
  for (const std::string_view end : {". "sv, "? "sv, "! "sv}) {
    const std::size_t at = lead.rfind(end);
    if (at != std::string_view::npos) begin = std::max(begin, at + end.size());
  }
  return lead.substr(begin);
}

// "Would you like to continue?" is a program's question, "How do I fix this?" a person's, of the sentence before it.
bool asks(std::string_view rest, const Words& after) {
  const std::size_t sign = rest.find('?');
  if (sign == std::string_view::npos) return false;
  return after.writer || own_sentence(rest.substr(0, sign)).size() == sign;
}

// In such a sentence no failure of its own is told.
constexpr std::array subordinating{
    "if"sv,    "when"sv,      "whenever"sv, "where"sv, "why"sv,   "how"sv,   "that"sv,  "which"sv,    "who"sv,
    "not"sv,   "no"sv,        "never"sv,    "any"sv,   "every"sv, "often"sv, "could"sv, "usually"sv,  "always"sv,
    "would"sv, "sometimes"sv, "should"sv,   "may"sv,   "might"sv, "can"sv,   "will"sv,  "question"sv, "answer"sv};
constexpr std::array passive{"was"sv, "were"sv, "been"sv, "got"sv};
constexpr std::array ended{"killed"sv,  "terminated"sv, "evicted"sv, "failed"sv,    "died"sv,     "crashed"sv,
                           "aborted"sv, "exited"sv,     "stopped"sv, "restarted"sv, "cancelled"sv};

// A colon, a full stop, quotes and brackets of other languages.
constexpr std::array foreign_signs{"\xEF\xBC\x9A"sv, "\xE3\x80\x82"sv, "\xE3\x80\x8C"sv, "\xE3\x80\x90"sv,
                                   "\xE3\x80\x91"sv, "\xE2\x80\x9C"sv, "\xC2\xBB"sv,     "\xC2\xAB"sv,
                                   "\xEF\xBC\x88"sv, "\xEF\xBC\x8C"sv, "\xE2\x80\x9E"sv};

bool is_participle(std::string_view words) {
  const std::string word = lowered(words.substr(0, words.find_first_of(" .,\"")));
  return word.ends_with("ed");
}

// "the pod was |OOMKilled|", "killed because it was |out of memory|": what happened to whom, told once.
bool tells_what_happened(const std::vector<Line>& lines, std::size_t index, std::string_view lead,
                         std::string_view match, const Words& before, const Words& after) {
  const std::string_view own = own_sentence(lead);
  if (before.writer || after.writer || after.function > 1 || has_word_of(own, subordinating)) return false;
  const bool happened = is_in(passive, before.last) && is_participle(match);
  if (!happened && !has_word_of(own, ended)) return false;
  const std::size_t label = own.rfind(": ");  // "Worker exit detail: Task was killed"
  const bool field = label != std::string_view::npos && words_of(own.substr(label)).function == 1;
  return field || !stands_in_text(lines, index);
}

// `"Out of memory: Killed process 77 (python)." So the program held …`: the line begins with a quotation, which a
// sentence follows.
bool is_cited_first(std::string_view text, std::size_t begin, std::string_view rest) {
  constexpr int enough = 2;
  const std::string_view opening = text.substr(0, std::min(begin, text.size()));
  const std::size_t sign = opening.find_first_of("\"'`");
  if (sign == std::string_view::npos || words_of(opening).function > 0 || opening.find(':') != opening.npos)
    return false;
  const std::size_t close = rest.find(opening[sign]);
  return close != std::string_view::npos && words_of(rest.substr(close + 1)).function >= enough;
}

// "Loading it in 4 bits crashes RuntimeError: |CUDA error|", "after the upgrade -> MemoryError: |Unable …|": words
// stand before the exception's name, where a program has a sign or nothing.
bool leads_into_exception(std::string_view text, std::size_t begin, std::string_view lead) {
  constexpr std::ptrdiff_t fewest_blanks = 2;
  constexpr std::array arrows{"->"sv, "=>"sv, "\xE2\x86\x92"sv};
  const std::string_view before = text.substr(0, std::min(begin, text.size()));
  const std::string_view name = before.substr(std::min(lead.size(), before.size()));
  const bool named = name.find("Error:") != name.npos || name.find("Exception:") != name.npos;
  if (!named || std::ranges::count(name, ':') > 1 || name.find('"') != name.npos || lead.empty() ||
      std::ranges::count(lead, ' ') < fewest_blanks)
    return false;
  const bool arrow = std::ranges::any_of(arrows, [&](auto sign) { return lead.ends_with(sign); });
  const Words words = words_of(lead);
  return words.function >= 1 && (arrow || (is_letter(lead.back()) && !words.last_begins));
}

// "The kernel counts the |OOMKilled| containers of a node and …": a sentence has the words in its middle.
bool stands_within_sentence(std::string_view lead, std::string_view rest) {
  constexpr int enough = 4;
  const std::size_t end = rest.find(". ");
  const std::string_view goes_on = rest.substr(0, end);
  if (lead.empty() || !is_letter(lead.back()) || !goes_on.starts_with(' ')) return false;
  const int before = words_of(own_sentence(lead)).function;
  const int after = words_of(goes_on).function;
  return before >= 1 && after >= 2 && before + after >= enough;
}

}  // namespace

bool begins_with_level(std::string_view text) {
  if (glog_level(text)) return true;
  if (text.starts_with("*** ")) text.remove_prefix(4);
  while (text.starts_with('[') || text.starts_with('(')) text.remove_prefix(1);
  const std::string begin = lowered(text.substr(0, 16));
  return std::any_of(levels.begin(), levels.end(), [&](std::string_view level) {
    return begin.starts_with(level) && (level.ends_with(' ') || begin.size() == level.size() ||
                                        " :]|)-"sv.find(begin[level.size()]) != std::string_view::npos);
  });
}

namespace {

// "jobs that exceed it are killed (slurmstepd: error: |Detected 1 oom_kill event| in StepId=1.0)"
bool is_in_parentheses(std::string_view lead, std::string_view text) {
  const std::size_t open = lead.rfind('(');
  return open != std::string_view::npos && open > 0 && lead[open - 1] == ' ' &&
         lead.find(')', open) == std::string_view::npos &&
         (lead.ends_with('(') || lead.find(": ", open) != std::string_view::npos) &&
         text.find(')') != std::string_view::npos;
}

}  // namespace

bool stands_in_prose(const std::vector<Line>& lines, std::size_t index, std::size_t begin, std::size_t end) {
  const Line& line = lines[index];
  const std::string_view text = line.body;
  if (is_of_example(lines, index, begin) || is_name_of_test(text, begin, end) || is_cited(lines, index)) return true;
  if (follows_label(text, begin)) return true;
  const std::string_view lead = without_opening(text.substr(0, std::min(begin, text.size())));
  const std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  const Words before = words_of(lead);
  const Words after = words_of(rest);
  if ((!line.time.empty() || begins_with_level(text)) && !before.first_person) return false;
  const bool raised = begins_with_exception(text) || ends_traceback(lines, index);
  if (names_speaker(lead) || follows_speaker(lines, index, raised)) return true;
  if (raised && !before.first_person && !after.first_person) return false;
  if (is_set_off(text, begin, end) || leads_into_exception(text, begin, lead)) return true;
  const int function = before.function + after.function;
  if (function >= 2 && before.function >= 1 && is_in_parentheses(lead, text.substr(std::min(begin, text.size()))))
    return true;
  const std::string_view own = own_sentence(lead);
  if (asks(rest, after) && (after.function >= 2 || (function >= 2 && begins_with_any(own, asking)))) return true;
  if (function >= 2 && begins_with_any(own, supposing)) return true;
  if (is_in_row(text, rest) || is_in_item(text, lead, rest) || is_cited_first(text, begin, rest)) return true;
  if (lead.empty() || before.last_begins) return false;
  const bool announced =
      lead.ends_with(':') || (begin < text.size() && text[begin] == ':');  // of some sentences' words
  if (announced && before.people > 0 && !before.writer && before.function >= 2) return true;  // "you will find: …"
  const bool within = !announced && stands_within_sentence(lead, rest);
  if (!within && !is_in(leading_in, before.last)) return false;
  if (announced) return before.people > 0 && before.function >= 2;
  if (!is_letter(lead.back())) return false;
  const std::string_view match = begin < end ? text.substr(begin, end - begin) : std::string_view();
  if (tells_what_happened(lines, index, lead, match, before, after)) return false;
  return within || function >= 3 || (before.people > 0 && function >= 2) ||
         (function >= 1 && stands_in_text(lines, index));
}

bool stands_in_foreign_prose(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::array questions{"?"sv, "\xEF\xBC\x9F"sv};
  const std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  if (std::ranges::any_of(questions, [&](auto sign) { return rest.find(sign) != std::string_view::npos; })) return true;
  std::string_view lead = text.substr(0, std::min(begin, text.size()));
  while (lead.ends_with(' ')) lead.remove_suffix(1);
  const bool within = !lead.empty() && (is_letter(lead.back()) || static_cast<unsigned char>(lead.back()) >= 0x80) &&
                      !std::ranges::any_of(foreign_signs, [&](auto sign) { return lead.ends_with(sign); });
  const std::size_t word = lead.rfind(' ') == std::string_view::npos ? 0 : lead.rfind(' ') + 1;
  const bool begins = word < lead.size() && lead[word] >= 'A' && lead[word] <= 'Z' &&
                      (word < 2 || !is_letter(lead[word - 2]));  // "DLL load failed: |Die| Auslagerungsdatei …"
  return within && !begins;
}

bool names_a_kind(const Wordings& wordings, std::string_view text, std::size_t end) {
  std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  while (!rest.empty() && (" -'\"`)*"sv.find(rest.front()) != std::string_view::npos || rest.starts_with("(OOM") ||
                           rest.starts_with("(OoM")))
    rest.remove_prefix(rest.starts_with("(O") ? 4 : 1);
  if (rest.starts_with("error ")) rest.remove_prefix(6);  // "out of memory error messages"
  const std::size_t word = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_letter) - rest.begin());
  return list_of(wordings, Wording::kinds_of_failures).have(rest.substr(0, word));
}

bool is_defined(const Wordings& wordings, std::string_view text, std::size_t end) {
  std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  rest.remove_prefix(std::min(rest.find_first_not_of(" *`'\")"), rest.size()));
  if (rest.starts_with('(')) {  // "cudaErrorMemoryAllocation (2) is the …"
    rest.remove_prefix(std::min(rest.find(')'), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(") "), rest.size()));
  }
  for (const std::string_view word : {"error "sv, "message "sv, "exception "sv})  // "… error indicates that …"
    if (rest.starts_with(word)) rest.remove_prefix(word.size());
  const std::string_view own = rest.substr(0, rest.find(". "));  // "The OOMKilled status, with code 137, signifies …"
  const Phrases& list = list_of(wordings, Wording::is_said_to_be);
  return list.have(rest) || list.are_in(own);
}

}  // namespace oomplan::diagnose
