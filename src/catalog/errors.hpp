// Diagnostics of this stage.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// An error that points at `node`, with its line as excerpt.
Diagnostic error_at(const Document& document, const Node& node, std::string code, std::string message,
                    std::string hint = {});

/// One about the whole of `document`.
Diagnostic error_in(const Document& document, std::string code, std::string message, std::string hint = {});

/// A scalar as written, text in quotes; otherwise what it is ("a list"). Strangers' text: cut short, without control
/// characters.
std::string shown(const Node& node);
std::string shown(std::string_view text);

/// At most three of `names` that `word` may have meant: what begins or ends with it, else the nearest spellings.
std::vector<std::string> near_names(std::string_view word, std::span<const std::string> names);

/// "a, b or c"
std::string joined(const std::vector<std::string>& names, std::string_view last = " or ");

}  // namespace oomplan::catalog
