// In which phase of which step each move of a run is.
#pragma once

#include <optional>

#include "oomplan/diagnose/stack_names.hpp"
#include "side.hpp"

namespace oomplan::comparing {

/// What an allocation's frames say, where oomplan wrote them (traced.cpp of estimate).
struct OwnStack {
  PredictedTensor tensor{};
  std::optional<PhaseOfStep> at{};  ///< Nothing of cuBLAS's workspaces.
};
std::optional<OwnStack> own_stack(const Snapshot& snapshot, std::uint32_t stack);

/// Sets Move::at of all. A free is in the phase of the allocation before it. By frames of Python, steps are counted
/// from 1; forward, loss and what lies between steps are told as forward.
ToldBy tell_moments(const Snapshot& snapshot, const diagnose::StackNames& names, Side& side);

/// The phase as frames of Python tell it.
PhaseOfStep coarse(PhaseOfStep at);

}  // namespace oomplan::comparing
