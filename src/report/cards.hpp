// The cards of a verdict, in words.
#pragma once

#include <string>

#include "oomplan/catalog/machine.hpp"
#include "oomplan/plan/gpu_count.hpp"

namespace oomplan::report {

/// "ONE NVIDIA L4", where nobody says how many there are; "each of 8 NVIDIA L4". Of a size ("a GPU with 24 GiB") one is
/// one.
std::string cards_text(const GpuCount& count, const Gpu& gpu);

}  // namespace oomplan::report
