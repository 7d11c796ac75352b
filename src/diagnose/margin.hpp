// What a tool put before every line of a file: numbers (cat -n, nl, grep -n), a file's name (grep -H), a sign (diff).
// It is known by the whole file only: "12: " before one line may be a rank.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

/// How many bytes of each line of one file are such a margin.
std::vector<std::size_t> margins_of(const std::vector<std::string_view>& lines);

}  // namespace oomplan::diagnose
