#include "lever.hpp"

#include <algorithm>

#include "oomplan/plan/fact_table.hpp"

namespace oomplan::survey {
Lever lever_of(const TrainingPlan& plan, Bucket bucket, const std::string& file) {
  for (const FactRow* fact : facts_that_move(bucket)) {
    const Origin& origin = fact->origin(plan);
    if (origin.kind == Origin::Kind::config && origin.where.file == file) return {origin.source, origin.where};
  }
  return {{}, {file, 1, 1}};
}

Bucket largest_of(ByBucket by_bucket) {
  at(by_bucket, Bucket::paged) = Bytes();  // It gives way to the others.
  return static_cast<Bucket>(std::ranges::max_element(by_bucket) - by_bucket.begin());
}

}  // namespace oomplan::survey
