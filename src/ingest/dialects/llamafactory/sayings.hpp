// How LLaMA-Factory's keys say what derive.cpp makes of more than one.
#pragma once

#include <span>

#include "../../saying.hpp"

namespace oomplan::ingestion::llamafactory {

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::llamafactory
