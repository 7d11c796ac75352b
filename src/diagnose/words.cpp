#include "words.hpp"

#include <array>
#include <cctype>

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

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

}  // namespace

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Words words_of(std::string_view text) {
  Words out;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.starts_with('-') && word.size() == 2) continue;  // grep -i
    const auto sign = [](char c) { return !is_letter(c) && static_cast<unsigned char>(c) < 0x80; };
    while (!word.empty() && sign(word.front())) word.remove_prefix(1);
    while (!word.empty() && sign(word.back())) word.remove_suffix(1);
    if (word.empty() || !std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || c == '\''; }))
      continue;
    out.last = lowered(word);
    out.last_begins = std::isupper(static_cast<unsigned char>(word.front())) != 0;
    out.function += is_in(function_words, out.last) ? 1 : 0;
    out.people += is_in(of_people, out.last) ? 1 : 0;
    out.first_person = out.first_person || out.last == "i" || out.last == "my" || out.last == "i'm";
    out.writer = out.writer || (is_in(of_people, out.last) && !out.last.starts_with("you"));
  }
  return out;
}

}  // namespace oomplan::diagnose
