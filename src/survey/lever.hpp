// The line of a config that decides its peak most.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/estimate/footprint.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::survey {

struct Lever {
  std::string key{};
  Location where{};
};

/// Of the facts that move the bucket, the first that the file itself gives; else the model's line, else the file.
Lever lever_of(const TrainingPlan& plan, Bucket bucket, const std::string& file);

/// The largest bucket of a moment.
Bucket largest_of(ByBucket by_bucket);

}  // namespace oomplan::survey
