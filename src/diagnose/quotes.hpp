// Forms in which a line holds somebody else's words: a conversation, an example of a data set, the name of a test.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

/// Whether the words from `begin` on are a member of an example that a model is trained with, and not the error of a
/// record.
bool is_of_example(const std::vector<Line>& lines, std::size_t index, std::size_t begin);

/// Whether the words from `begin` on follow the label of what a model wrote, "prediction: ", or begin with it.
bool follows_label(std::string_view text, std::size_t begin);

/// Whether the words from `begin` to `end` are in the name of a test, on the line that says how it went.
bool is_name_of_test(std::string_view text, std::size_t begin, std::size_t end);

/// Whether the words from `begin` to `end` are set off as code, `like this`, behind other words.
bool is_set_off(std::string_view text, std::size_t begin, std::size_t end);

/// Whether the line is what the writer of a mail quotes of another's, between lines of his own.
bool is_cited(const std::vector<Line>& lines, std::size_t index);

/// Whether somebody speaks in front of the words, on their line.
bool names_speaker(std::string_view lead);

/// Whether somebody speaks in one of the three lines above, in a language's words; of himself, where `of_himself`.
bool follows_speaker(const std::vector<Line>& lines, std::size_t index, bool of_himself);

}  // namespace oomplan::diagnose
