// Settings put into a TOML file.
#pragma once

#include <string>
#include <vector>

#include "oomplan/advise/advise.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

/// The document's text with `changes` ("section.key") in it: in the line of the key, below the head of its section, or
/// in a new section at the end. All else is as it was. Error, cli/not-written: a value that is written over several
/// lines, or elsewhere than behind its key.
Result<std::string> toml_with(const Document& document, const std::vector<KeyChange>& changes);

}  // namespace oomplan::cli
