// Whether words stand in code, which a document or a traceback shows: nothing printed them.
#pragma once

#include <cstddef>
#include <string_view>

namespace oomplan::diagnose {

/// A line of code, as g++, IPython, pytest and rich show it with its number and a bar.
bool shows_code(std::string_view text);

/// Whether the words from `begin` to `end` are a text in a line of code: what a call would print or looks for, a
/// template whose holes are open, a condition on the labels of a metric.
bool stands_in_code(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace oomplan::diagnose
