#include "quotes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

// Who speaks in a conversation, and the keys of one or of an example that a model is trained with: two of a line.
constexpr std::array speakers{
    "user:"sv,     "human:"sv,       "assistant:"sv,  "question:"sv,     "answer:"sv,      "q:"sv,
    "a:"sv,        "<|user|>"sv,     "[inst]"sv,      "<|assistant|>"sv, "<|im_start|>"sv, "### instruction"sv,
    "### human"sv, "### response"sv, "### question"sv};
constexpr std::array members{"\"role\":"sv,   "\"content\":"sv,    "\"prompt\":"sv,   "\"instruction\":"sv,
                             "\"input\":"sv,  "\"completion\":"sv, "\"question\":"sv, "\"answer\":"sv,
                             "\"output\":"sv, "\"response\":"sv,   "\"chosen\":"sv,   "\"rejected\":"sv};

constexpr std::array keys_of_logs{"\"level\":"sv,      "\"severity\":"sv,  "\"levelname\":"sv, "\"lvl\":"sv,
                                  "\"exc_info\":"sv,   "\"traceback\":"sv, "\"stack\":"sv,     "\"timestamp\":"sv,
                                  "\"@timestamp\":"sv, "\"ts\":"sv};

// Of these a record says what went wrong, whatever the request was that it repeats.
constexpr std::array keys_of_errors{"error"sv,  "err"sv,    "exception"sv, "reason"sv, "failure"sv,
                                    "stderr"sv, "detail"sv, "details"sv,   "cause"sv,  "error_message"sv};

// The key of the member that `at` is in.
std::string_view key_before(std::string_view text, std::size_t at) {
  const std::size_t close = text.substr(0, std::min(at, text.size())).rfind("\":");
  if (close == std::string_view::npos || close == 0) return {};
  const std::size_t open = text.rfind('"', close - 1);
  return open == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

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
  if (lines[first].body.starts_with("{\"text\":")) return std::ranges::none_of(keys_of_logs, holds);
  return std::ranges::count_if(members, holds) >= 2 && std::ranges::none_of(keys_of_logs, holds);
}

// Behind the name of whoever speaks; nothing where no one does.
std::optional<std::string_view> speech_of(std::string_view text) {
  const std::string begin = lowered(text.substr(0, 20));
  const auto who = std::ranges::find_if(speakers, [&](std::string_view name) { return begin.starts_with(name); });
  if (who == speakers.end()) return std::nullopt;
  return text.substr(std::min(who->size(), text.size()));
}

constexpr std::array labels{"prediction:"sv, "predicted:"sv, "generated:"sv, "completion:"sv, "text:"sv};

}  // namespace

bool is_of_example(const std::vector<Line>& lines, std::size_t index, std::size_t begin) {
  return is_member(lines, index) && !is_in(keys_of_errors, key_before(lines[index].body, begin));
}

bool follows_label(std::string_view text, std::size_t begin) {
  constexpr std::size_t longest_opening = 24;  // of a match that takes in what stands before its words
  const std::string body = lowered(text);
  return std::ranges::any_of(labels, [&](std::string_view label) {
    const std::size_t at = body.find(label);
    if (at == std::string::npos || at > begin + longest_opening) return false;
    if (at > 0 && " ]"sv.find(body[at - 1]) == std::string_view::npos) return false;
    const std::size_t end = at + label.size();
    return end >= begin || body.find_first_not_of(" '\"`", end) >= begin;
  });
}

bool is_name_of_test(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::array openings{"\xE2\x9C\x93 "sv, "\xE2\x9C\x94 "sv, "\xE2\x88\x9A "sv,
                                "--- PASS: "sv,    "[       OK ] "sv, "PASS "sv};
  constexpr std::array outcomes{" PASSED"sv, " FAILED"sv, " SKIPPED"sv, " XFAIL"sv, " XPASS"sv, " ERROR"sv};
  if (std::ranges::any_of(openings, [&](std::string_view open) { return text.starts_with(open); })) return true;
  if (text.ends_with(" ... ok") || text.ends_with(" ... skipped")) return true;
  const std::string_view rest = end < text.size() ? text.substr(end) : std::string_view();
  const bool named = text.substr(0, std::min(begin, text.size())).find("::") != std::string_view::npos;
  if (named && std::ranges::any_of(outcomes, [&](auto outcome) { return rest.find(outcome) != rest.npos; }))
    return true;
  std::string_view number = text;  // the Test Anything Protocol: "ok 3 - …", "not ok 4 - …"
  if (number.starts_with("not ")) number.remove_prefix(4);
  if (!number.starts_with("ok ")) return false;
  number.remove_prefix(3);
  const std::size_t digits = number.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && number.substr(digits).starts_with(" - ");
}

bool is_set_off(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view lead = text.substr(0, std::min(begin, text.size()));
  const std::size_t open = lead.rfind('`');
  if (open == std::string_view::npos || std::ranges::count(lead, '`') % 2 == 0) return false;
  const bool closed = end < text.size() && text.find('`', end) != std::string_view::npos;
  return closed && std::ranges::any_of(lead.substr(0, open), is_letter);
}

namespace {

// A line of the writer's own: "On Tuesday Alice wrote:", "Please ask for more."
bool is_written(const Line& line) {
  constexpr int enough = 2;
  if (line.cited || line.prefixed || line.body.empty()) return false;
  const bool ends = ":.?!"sv.find(line.body.back()) != std::string_view::npos;
  return words_of(line.body).function >= (ends ? 1 : enough) || line.body.ends_with(" wrote:");
}

// The next line beyond the quotation, where the same file has one.
const Line* beside_citation(const std::vector<Line>& lines, std::size_t index, std::ptrdiff_t step) {
  constexpr int most_lines = 64;
  auto at = static_cast<std::ptrdiff_t>(index);
  for (int seen = 0; seen < most_lines; ++seen) {
    at += step;
    if (at < 0 || at >= std::ssize(lines)) return nullptr;
    const Line& line = lines[static_cast<std::size_t>(at)];
    if (line.file != lines[index].file) return nullptr;
    if (!line.cited && !line.body.empty()) return &line;
  }
  return nullptr;
}

}  // namespace

bool is_cited(const std::vector<Line>& lines, std::size_t index) {
  if (!lines[index].cited) return false;
  const Line* const above = beside_citation(lines, index, -1);
  const Line* const below = beside_citation(lines, index, 1);
  return (above != nullptr && is_written(*above)) || (below != nullptr && is_written(*below));
}

bool names_speaker(std::string_view lead) {
  const std::string text = lowered(lead);
  return std::any_of(speakers.begin(), speakers.end(), [&](std::string_view who) {
    const std::size_t at = text.find(who);
    return at != std::string::npos && (at == 0 || (at > 1 && text[at - 1] == ' ' && text[at - 2] == ']'));
  });
}

bool follows_speaker(const std::vector<Line>& lines, std::size_t index, bool of_himself) {
  constexpr std::size_t most_lines = 3;
  for (std::size_t i = index, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    if (lines[i].file != lines[index].file || lines[i + 1].header || lines[i].prefixed) return false;
    const std::optional<std::string_view> speech = speech_of(lines[i].body);
    if (!speech) continue;
    const Words words = words_of(*speech);  // "User: alice" is a field, and no speech
    const bool opens = speech->find_first_not_of(" :*") == std::string_view::npos;
    return of_himself ? words.writer : opens || words.function > 0;
  }
  return false;
}

}  // namespace oomplan::diagnose
