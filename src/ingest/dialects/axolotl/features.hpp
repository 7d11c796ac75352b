// What is said of Axolotl's keys beside keys.yaml.
#pragma once

#include <span>

#include "../../rows.hpp"

namespace oomplan::ingestion::axolotl {

std::span<const Feature> features();

}  // namespace oomplan::ingestion::axolotl
