// The sentences of rules/messages, ready to be looked for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "oomplan/read/document.hpp"
#include "program.hpp"

namespace oomplan::diagnose {

struct Example {
  std::string text{};
  std::vector<std::pair<std::string, std::string>> values{};
  Location where{};
};

struct Sentence {
  std::string id{};
  std::string family{};
  Says says = Says::detail;
  Where place = Where::none;
  std::string phase{};
  std::string text{};
  Program program{};
  Letters letters = Letters::as_written;
  std::string anchor{};         ///< A literal that every match holds, by which lines are picked.
  bool whole_line = false;      ///< Only where nothing else is on the line.
  bool whole_word = false;      ///< Its beginning is not the end of a longer name.
  std::vector<Reading> adds{};  ///< What the sentence means without printing it.
  std::vector<Example> examples{};
  Location where{};
};

/// Sentences of one file; `name` is the file's, without ".yaml".
Result<std::vector<Sentence>> sentences_of(const Document& document, std::string_view name);

/// The anchor as logs may write it: itself, or, of a sentence in any letters, in small ones, in capitals, with its
/// first letter, with each word's, with each longer word's a capital.
std::vector<std::string> spellings(const Sentence& sentence);

/// Whether a line that says this is worth stopping for in a long log; the rest is only read near such a line.
bool is_loud(Says says);

}  // namespace oomplan::diagnose
