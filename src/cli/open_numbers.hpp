// A config that leaves one number alone open: how long rows are, or how many GPUs there are.
#pragma once

#include <optional>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::cli {

/// A config read with some value for that number.
struct Open {
  const Document& document;
  const IngestOptions& options;
  TrainingPlan plan{};
  Architecture architecture{};

  RoomQuestion on(const Gpu& gpu, double headroom) const {
    return {document, options, plan, architecture, gpu, headroom};
  }
};

/// `plan`: that of plan_but_for_length() or plan_but_for_world(). Nothing where it cannot be estimated anyway.
std::optional<Open> opened(const Document& document, const IngestOptions& options, std::optional<TrainingPlan> plan,
                           const Catalog& catalog);

/// Which lengths fit, of each card; nothing where more than the length is open, and where one cannot be decided.
std::vector<Lengths> lengths_on(const std::vector<Gpu>& gpus, const std::optional<Open>& open, double headroom);

/// What the usual numbers of GPUs need, of each card; nothing as above.
std::vector<Worlds> worlds_on(const std::vector<Gpu>& gpus, const std::optional<Open>& open, double headroom);

/// What else keeps a config from an estimate that leaves numbers open, whatever these are; none of `known` again. What
/// is refused with some numbers may be so for them: it counts where it is refused with others too.
Diagnostics reasons_beside(const Document& document, const IngestOptions& options, const Catalog& catalog,
                           const Diagnostics& known);

}  // namespace oomplan::cli
