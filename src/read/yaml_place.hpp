// Where a YAML value stands in the text. yaml-cpp marks a value at its anchor or tag, and an absent one at whatever
// comes next; a caret and a patch want the value itself.
#pragma once

#include <cstddef>
#include <string_view>

namespace oomplan::read {

/// The offset of the value behind any anchor, tag and comment at `mark`; `mark` where there is none.
std::size_t value_offset(std::string_view text, std::size_t mark);

/// The offset of a null: of its word, or behind the ':' or '-' whose value is absent.
std::size_t null_offset(std::string_view text, std::size_t mark);

/// "null" or its like as written at `offset`; empty for an absent value.
std::string_view null_word(std::string_view text, std::size_t offset);

/// True where a quote opens at `offset` and none closes it: yaml-cpp takes the rest of the file without a word.
bool quote_stays_open(std::string_view text, std::size_t offset);

/// True where a ':' ends the key at `offset`, or a '?' begins it. yaml-cpp takes "lr 1e-5" on a line of its own for a
/// key without a value.
bool is_marked_key(std::string_view text, std::size_t offset);

bool is_explicit_key(std::string_view text, std::size_t offset);

/// True where only space stands before `offset` on its line.
bool begins_line(std::string_view text, std::size_t offset);

}  // namespace oomplan::read
