// Ways to spread a run over GPUs: which of them fit, and which is quickest by a stated model of its cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/host_check.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"
#include "oomplan/survey/layout.hpp"

namespace oomplan {

/// Those of models/layouts. Errors: survey/bad-layout.
Result<std::vector<LayoutKind>> layout_kinds();

/// All outlive the question.
struct LayoutQuestion {
  const Document& document;
  const IngestOptions& ingest;  ///< With the document's dialect. Its loader is asked for every file but the layout's
                                ///< own launcher config.
  const Architecture& architecture;
  const Gpu& gpu;
  LayoutWorld world{};
  std::int64_t rows = 0;  ///< Of a step, on all GPUs together: as many at least.
  double headroom = 0;
  HostCheck host{};
};

/// A layout that fits the GPU, held against the host where the question asks: it may not fit, or be undecided, then.
void hold_host(Layout& layout, const LayoutQuestion& question, const TrainingPlan& plan, Bytes paged);

/// accelerate's launcher config of a layout.
std::string launch_file(const LayoutKind& kind, const LayoutWorld& world);

/// Whether so many GPUs can be shared so.
bool is_for(const LayoutKind& kind, const LayoutWorld& world);

/// The layout of that kind.
Layout layout_of(const LayoutQuestion& question, const LayoutKind& kind, bool checkpointing);

/// What the question's document needs as it stands, started as the layout has it; nothing where that makes another plan
/// than the layout's, and where it cannot be decided.
std::optional<Bytes> needed_as_written(const LayoutQuestion& question, Layout layout);

/// What fits first, the quickest first of it; of equal ones, and where the card's speed is not known, what computes
/// nothing twice and moves least; then what needs least.
void sort_layouts(std::vector<Layout>& layouts);

/// Whether the optimizer updates weights of 32 bits; else those that were loaded, in their dtype.
bool is_fp32_trained(const TrainingPlan& plan, const Architecture& model);

/// How many of a model's parameters there are.
struct Counted {
  std::int64_t all = 0;
  std::int64_t trained = 0;
  bool mixture = false;               ///< A token goes through a part of them.
  std::int64_t checkpoint_bytes = 2;  ///< Of one, as the checkpoint holds it.
};

/// Of a plan on all GPUs of `world`.
StepCost step_cost(const TrainingPlan& plan, const Counted& parameters, const Gpu& gpu, const LayoutWorld& world);

}  // namespace oomplan
