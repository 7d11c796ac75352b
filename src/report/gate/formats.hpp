// The formats of a gate's answer, one file each.
#pragma once

#include <string>

#include "oomplan/report/gate_view.hpp"

namespace oomplan::report::gate {

std::string text(const Gate& gate, const GateViewOptions& options);
std::string markdown(const Gate& gate, const GateViewOptions& options);
std::string junit(const Gate& gate, const GateViewOptions& options);
std::string sarif(const Gate& gate, const GateViewOptions& options);
std::string github(const Gate& gate, const GateViewOptions& options);
std::string json(const Gate& gate, const GateViewOptions& options);
std::string html(const Gate& gate, const GateViewOptions& options);

}  // namespace oomplan::report::gate
