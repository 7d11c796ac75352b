// Answers as one page for a browser: no file beside it, no network.
#pragma once

#include <optional>
#include <string>

#include "oomplan/advice.hpp"
#include "oomplan/curve.hpp"
#include "oomplan/evidence.hpp"
#include "oomplan/gate.hpp"
#include "oomplan/report.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

/// The estimate, with its step over time where there is a curve. Holds what --json prints, and draws that.
std::string estimate_html(const Report& report, const std::optional<Curve>& curve);

std::string advice_html(const Advice& advice);

std::string diagnosis_html(const Diagnosis& diagnosis, const Diagnostics& problems);

}  // namespace oomplan
