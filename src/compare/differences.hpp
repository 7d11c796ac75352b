// In which tensors two runs differ that were lined up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lined_up.hpp"
#include "moments.hpp"
#include "oomplan/compare/comparison.hpp"

namespace oomplan::comparing {

/// Both runs, and what names their tensors.
struct Runs {
  const Snapshot& predicted_in;
  const Snapshot& observed_in;
  const Side& predicted;
  const Side& observed;
  const diagnose::StackNames& names;  ///< Of the snapshot.
};

/// The predicted tensor that each observed one is; nothing where none is.
std::vector<std::optional<std::uint32_t>> partners(const Runs& runs, const LinedUp& lined_up);

/// In the order of time, without frames. Frees of a tensor that only one has are no difference of their own.
std::vector<Difference> differences_of(const Runs& runs, const LinedUp& lined_up);

/// Those alike together, what comes to most first. Stacks are alike where they are one, or tell the same op of
/// oomplan's.
std::vector<Difference> together(const Runs& runs, std::vector<Difference> differences);

PredictedTensor tensor_of(const Runs& runs, std::uint32_t predicted);
/// Of a stack of the snapshot.
std::vector<std::string> frames_of(const Runs& runs, std::uint32_t stack);

/// "model.layers.3.mlp" as "model.layers.*.mlp".
std::string of_all_layers(const std::string& module);

}  // namespace oomplan::comparing
