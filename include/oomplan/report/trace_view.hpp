// A step's memory as trace viewers read it.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/estimate/curve.hpp"

namespace oomplan {

/// Of a curve that becomes a trace.
inline constexpr std::size_t trace_points = 50'000;

/// The curve in the Trace Event Format (JSON), which Perfetto and chrome://tracing draw: a counter of bytes for each
/// bucket and for what is reserved, slices of phases and of modules in their layers. A point is a microsecond.
std::string trace_json(const Curve& curve, const std::string& config);

}  // namespace oomplan
