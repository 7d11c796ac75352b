// What a sentence of general words means is told by where it stands: "out of memory" under a traceback is a failure,
// in a page of advice it is none.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"
#include "sentence.hpp"

namespace oomplan::diagnose {

/// Whether a sentence counts only so.
bool is_general(const Sentence& sentence);

/// Whether the line stands as a failure's does: below a frame of a traceback, or as the report of an error in words
/// that advise nothing.
bool stands_as_failure(const std::vector<Line>& lines, std::size_t index, const Sentence& sentence);

/// Whether the line is an example in a text about errors: right below "If you see an error like:".
bool stands_as_example(const std::vector<Line>& lines, std::size_t index);

/// Whether words of a GPU are on the line.
bool speaks_of_gpu(std::string_view text);

}  // namespace oomplan::diagnose
