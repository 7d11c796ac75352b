// The parts of the text view, in the order of reading. Each needs report.found.footprint, ends with a newline, and is
// empty where it has nothing to say.
#pragma once

#include <string>

#include "oomplan/report/report.hpp"

namespace oomplan::report {

/// What of it is known, even without a footprint; with one, without what host_verdict_section says.
std::string host_section(const Report& report, const ViewOptions& options);

/// The limits of the host that are too small, or cannot be decided.
std::string host_verdict_section(const Report& report, const ViewOptions& options);

/// Without a footprint: which lengths of rows fit, where nothing says how long they are.
std::string lengths_section(const Report& report, const ViewOptions& options);
/// The same of how many GPUs there are.
std::string worlds_section(const Report& report, const ViewOptions& options);

std::string verdict_section(const Report& report, const ViewOptions& options);
/// The peak and what fills it; with one card also what lies beside the tensors. `note` follows the moment.
std::string peak_text(const Report& report, const std::string& note, const ViewOptions& options);
/// How far the micro-batch goes, which fix moves most, which cards do.
std::string outlook_section(const Report& report, const ViewOptions& options);
std::string model_section(const Report& report, const ViewOptions& options);
std::string phases_section(const Report& report, const ViewOptions& options);
std::string largest_section(const Report& report, const ViewOptions& options);
std::string runtime_section(const Report& report, const ViewOptions& options);
std::string facts_section(const Report& report, const ViewOptions& options);
std::string limits_section(const Report& report, const ViewOptions& options);
/// What is left out of the others.
std::string more_section(const Report& report, const ViewOptions& options);

/// "backward of step 2"; "load".
std::string moment_text(const PhasePeak& peak);

}  // namespace oomplan::report
