// The estimator: plays a training run and reads the peaks off its timeline.
#pragma once

#include <optional>

#include "oomplan/architecture.hpp"
#include "oomplan/footprint.hpp"
#include "oomplan/machine.hpp"
#include "oomplan/plan.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

/// How much of a footprint is wanted. Peaks alone are many times cheaper: a search over plans asks for no more.
enum class Detail : std::uint8_t {
  peaks,   ///< at_peak, bucket_peaks and at_bucket_peaks stay empty.
  groups,  ///< Everything.
};

/// Plays load and two optimizer steps of `plan` on one device. Errors: estimate/unmodelled (one for each entry of
/// plan.unmodelled and for each combination that no op can play), estimate/too-large (sizes that no machine has),
/// estimate/too-long (more positions than the model can address).
Result<Footprint> estimate(const TrainingPlan& plan, const Architecture& architecture, Detail detail = Detail::groups);

/// A term of a GPU's memory beside the tensors.
struct RuntimeTerm {
  std::string name{};
  Bytes bytes{};
  std::string source{};
};

/// A footprint held against a GPU.
struct Fit {
  Gpu gpu{};
  std::vector<RuntimeTerm> runtime{};  ///< CUDA context, cuBLAS workspaces.
  Bytes needed{};                      ///< The peak and the runtime terms.
  Bytes headroom{};                    ///< gpu.total - needed; negative where it does not fit.
  bool fits = false;
};

Fit fit(const Footprint& footprint, const Gpu& gpu);

/// Why the footprint, which is played on compute capability 8.0 and up, says nothing of this GPU: one without the
/// kernels that it was played with (estimate/unmodelled). Nothing where it holds.
std::optional<Diagnostic> undecided_on(const Footprint& footprint, const Gpu& gpu);

}  // namespace oomplan
