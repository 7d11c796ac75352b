// Documents that were parsed when the program was built: a run reads dozens of the program's own data files, and their
// YAML is not scanned again each time.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan {

/// All of `root`, with its places. Only the build writes it, and only a program of the same build reads it.
std::string pack(const Node& root);

/// What pack() was given.
Node unpack(std::string_view packed);

/// A data file of ours, from `packed` and without its text, or, where that is empty, one of the user's, from `text`,
/// with the errors of parse_document. `file` is only the name used in messages.
Result<Document> data_document(std::string_view text, std::string_view packed, const std::string& file,
                               const ReadBudget& budget = {});

}  // namespace oomplan
