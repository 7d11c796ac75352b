// The words of a line, as far as they tell a language's sentence from a program's report.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {

struct Words {
  int function = 0;           ///< Of those that hold sentences together: "the", "is", "because".
  int people = 0;             ///< "I", "my", "we", "you".
  bool first_person = false;  ///< "I", "my".
  bool writer = false;        ///< "I", "my", "we", "our".
  std::string last{};
  bool last_begins = false;  ///< It has a capital: "The paging file …" begins a report.
};

/// Letters alone make a word: "gpu_0", "torch.cuda" and paths are none of a language.
Words words_of(std::string_view text);

bool is_letter(char c);

bool is_in(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a word of the text, in small letters, is one of `words`.
bool has_word_of(std::string_view text, const auto& words) {
  std::string rest = lowered(text);
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t begin = at;
    while (at < rest.size() && is_letter(rest[at])) ++at;
    if (at > begin && is_in(words, std::string_view(rest).substr(begin, at - begin))) return true;
    if (at == begin) ++at;
  }
  return false;
}

}  // namespace oomplan::diagnose
