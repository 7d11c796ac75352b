// How HF's keys say what derive.cpp makes of more than one.
#pragma once

#include <span>

#include "../../saying.hpp"

namespace oomplan::ingestion::hf {

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::hf
