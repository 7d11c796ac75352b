// A calibration on paper.
#pragma once

#include <string>

#include "oomplan/calibrate/calibration.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan {

/// For people: a line for each card and version, and its errors.
std::string calibration_text(const Calibration& found);

/// One JSON object as docs/calibration.schema.json has it; estimate --calibration reads it.
std::string calibration_json(const Calibration& found);

/// The same where the runs could not be read.
std::string calibration_json(const Diagnostics& problems);

}  // namespace oomplan
