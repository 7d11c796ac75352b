// From a framework's config to a TrainingPlan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/document.hpp"
#include "oomplan/plan.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

struct IngestOptions {
  std::string dialect{};                 ///< "" recognises the dialect from the content.
  std::vector<std::string> overrides{};  ///< "key=value" in the dialect's own keys, applied over the file in order.
};

/// Reads the plan out of a document. Values of the wrong type or range are errors (ingest/bad-value), a key that no
/// version of the framework knows is a warning in the plan (ingest/unknown-key, with the nearest name), what affects
/// memory and is not modelled goes to plan.unmodelled.
Result<TrainingPlan> ingest(const Document& document, const IngestOptions& options = {});

/// The dialects, by name: "axolotl", "hf", "oomplan".
std::vector<std::string_view> dialects();

/// The plan written in a dialect's own keys, so that ingest() of it gives the same plan.
std::string write_plan(const TrainingPlan& plan, std::string_view dialect);

}  // namespace oomplan
