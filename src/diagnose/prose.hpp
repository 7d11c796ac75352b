// Whether words stand in a text that people wrote, where they are quoted or talked of, or in a log, where they report.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// Of the words from `begin` to `end` in the line's body (`end` may lie behind it, where they go on in the next line):
/// whether a sentence of a language leads into them or asks about them, or they are what someone says in a conversation
/// or in an example of a data set. A line with a time or a level in front is a log's, unless it says "I" or "my".
bool stands_in_prose(const std::vector<Line>& lines, std::size_t index, std::size_t begin, std::size_t end);

/// The same of words in another language than English, of whose sentences no word is known: a question, or words that
/// stand within others. A program's stand at the begin, or behind a sign.
bool stands_in_foreign_prose(std::string_view text, std::size_t begin, std::size_t end);

/// Whether the text begins with the level of a log's line: "WARN: ", "[error] ", glog's "E1101 ".
bool begins_with_level(std::string_view text);

/// Whether the words behind `end` make the words before them a name of a kind of failure: "out of memory errors",
/// "OOM killer".
bool names_a_kind(const Wordings& wordings, std::string_view text, std::size_t end);

/// Whether the words behind `end` say what the words before them stand for: "exit code 137 means …".
bool is_defined(const Wordings& wordings, std::string_view text, std::size_t end);

}  // namespace oomplan::diagnose
