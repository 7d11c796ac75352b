// Which stage may include what. DESIGN's table of directions, in the form a test can hold the tree against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oomplan::house {

/// One sentence for each include of `text` that its place forbids. `path` is below src/ ("read/yaml.cpp"); `files` are
/// all the paths below src/, to find what a quoted include means.
std::vector<std::string> violations(std::string_view path, std::string_view text,
                                    const std::vector<std::string>& files = {});

/// The same for a public header: `path` is below include/oomplan ("plan/plan.hpp").
std::vector<std::string> header_violations(std::string_view path, std::string_view text);

}  // namespace oomplan::house
