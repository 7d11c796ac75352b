// A calibration on paper.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/calibrate/calibration.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan {

/// For people: a line for each card and version, and its errors, at most `width` wide.
std::string calibration_text(const Calibration& found, std::size_t width);

/// One JSON object as docs/calibration.schema.json has it; estimate --calibration reads it.
std::string calibration_json(const Calibration& found);

/// The same where the runs could not be read.
std::string calibration_json(const Diagnostics& problems);

}  // namespace oomplan
