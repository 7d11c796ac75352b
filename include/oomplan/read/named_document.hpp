// Files that a config names, which may be any on the machine.
#pragma once

#include <string>

#include "oomplan/read/document.hpp"

namespace oomplan {

/// As read_document; what is wrong with a file that cannot be read is said without any of its text.
Result<Document> read_named_document(const std::string& path);

}  // namespace oomplan
