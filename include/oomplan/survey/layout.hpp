// A way to spread a run over GPUs, and what it costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/survey/mesh_layout.hpp"

namespace oomplan {

/// A way to share a model: a file of models/layouts.
struct LayoutKind {
  std::string name{};   ///< "fsdp2".
  std::string title{};  ///< "FSDP2".
  std::string what{};   ///< What each GPU holds then, in a sentence.
  /// accelerate's launcher config, with {gpus} (all of them), {each} (of a machine), {machines}, {precision}.
  std::string launch{};
  Sharding sharding = Sharding::none;  ///< What a plan that is started so has.
  std::int64_t least_gpus = 1;
  std::int64_t most_gpus = 0;  ///< 0: any number.
  std::int64_t least_machines = 1;
  std::int64_t least_each = 1;  ///< GPUs of a machine.
};

/// The GPUs that there are, and in what precision they train.
struct LayoutWorld {
  std::int64_t each = 1;  ///< In a machine.
  std::int64_t machines = 1;
  double network = 0;             ///< Between machines, of one GPU in one direction, in GB/s (10^9 bytes).
  std::string precision{"bf16"};  ///< accelerate's mixed_precision: "no", "bf16", "fp16".
  std::int64_t gpus() const { return each * machines; }
};

/// What a training step costs a rank, by the model of docs/planner.md.
struct StepCost {
  Bytes moved{};                    ///< In a step, from other ranks: gathered weights, reduced gradients.
  std::optional<double> seconds{};  ///< Of a step. Nothing where the card's speed is not known (Gpu::speed), of a
                                    ///< mixture of experts, of which a token takes a part, and of recipes other than
                                    ///< RecipeKind::supervised, which call the model more than once.
};

/// One layout, with the largest micro-batch that it can have.
struct Layout {
  LayoutKind kind{};
  bool checkpointing = false;
  std::int64_t micro_batch = 0;   ///< Rows; 1 where not even one fits.
  std::int64_t accumulation = 1;  ///< Micro-batches before a step.
  Bytes needed{};                 ///< As in Fit, of the kind of rank that needs most.
  bool at_least = false;          ///< As in Fit.
  bool fits = false;              ///< With the headroom asked for, and on the host where that is asked for.
  std::vector<HostFit> host{};    ///< The limits that were asked for, where the GPU has room.
  bool fp32_trained = false;      ///< The optimizer updates fp32 weights; else those that were loaded, in their dtype.
  StepCost cost{};
  std::string launcher{};               ///< accelerate's launcher config of it.
  std::vector<std::string> settings{};  ///< What it sets of the document's own keys: "key=value".
  std::optional<MeshLayout> mesh{};     ///< Where it is a mesh; then `launcher` is empty, and the kind only a name.
  /// Why there is no figure; then nothing above but the kind counts. survey/other-layout: what the config says
  /// itself, or --set, makes another plan of the layout's settings than was asked for.
  Diagnostics undecided{};
};

/// What became of the meshes that were looked at.
struct MeshCounts {
  std::int64_t considered = 0;
  std::int64_t too_large = 0;  ///< By the bound.
  std::int64_t played = 0;
  std::int64_t misfits = 0;     ///< Of them.
  std::int64_t refused = 0;     ///< That the frameworks stop at.
  std::int64_t undecided = 0;   ///< That would have come before the last that is listed.
  std::int64_t not_played = 0;  ///< Slower than those that are listed.
};

}  // namespace oomplan
