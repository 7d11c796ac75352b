// A gate's answer, for people and for the machines that run it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/survey/gate.hpp"

namespace oomplan {

struct GateViewOptions {
  bool colour = false;        ///< Escape sequences for a terminal; text only.
  bool verdict_only = false;  ///< A line a config, without its reasons; text only.
};

/// "text", "markdown" (a job summary), "junit", "sarif" (2.1.0), "github" (annotations), "json"
/// (docs/gate.schema.json).
std::vector<std::string_view> gate_formats();

/// Nothing where there is no such format.
std::optional<std::string> gate_view(std::string_view format, const Gate& gate, const GateViewOptions& options = {});

}  // namespace oomplan
