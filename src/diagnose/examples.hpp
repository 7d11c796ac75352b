// Whether the words of a failure are an example of one, in a text about failures, and no report.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// Whether what stands from `begin` to `end` of the line is no report: code that is shown, a sentence about what may
/// happen, what to do in such a case, or an example in a text about errors, right below "If you see an error like:".
bool stands_as_example(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index, std::size_t begin,
                       std::size_t end);

/// Whether the line is a sentence about what may happen, or what a word stands for.
bool explains(const Wordings& wordings, std::string_view text);

}  // namespace oomplan::diagnose
