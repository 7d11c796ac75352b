// Answers as one page for a browser: no file beside it, no network.
#pragma once

#include <optional>
#include <string>

#include "oomplan/advise/advice.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "oomplan/estimate/curve.hpp"
#include "oomplan/report/report.hpp"
#include "oomplan/survey/gate.hpp"

namespace oomplan {

/// The estimate, with its step over time where there is a curve. Holds what --json prints, and draws that.
std::string estimate_html(const Report& report, const std::optional<Curve>& curve);

std::string advice_html(const Advice& advice);

std::string diagnosis_html(const Diagnosis& diagnosis, const Diagnostics& problems);

}  // namespace oomplan
