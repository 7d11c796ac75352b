#include "floor.hpp"

#include <algorithm>

namespace oomplan::advise {
namespace {

Bytes tensors_of(const ByBucket& moment) {
  Bytes sum;
  for (const Bucket bucket : tensor_buckets) sum += at(moment, bucket);
  return sum;
}

}  // namespace

Moments moments_of(const Footprint& footprint) {
  Moments out{.trained = Bytes(footprint.trainable_parameters) * 4};
  for (const PhasePeak& peak : footprint.peaks) out.held.push_back(peak.by_bucket);
  return out;
}

Moments moments_of(const TrainingPlan& plan, const Architecture& architecture) {
  const Result<Footprint> footprint = estimate(plan, architecture, Detail::peaks);
  return footprint ? moments_of(*footprint) : Moments{};
}

Moments left_by(const Rung& rung, Moments moments) {
  for (ByBucket& moment : moments.held) {
    const Bytes weights = at(moment, Bucket::weights);
    for (const Bucket bucket : rung.fix.relieves) at(moment, bucket) = {};
    if (rung.only_trained_weights) at(moment, Bucket::weights) = weights - std::min(weights, moments.trained);
  }
  if (rung.only_trained_weights) moments.trained = {};
  return moments;
}

Bytes fullest(const Moments& moments) {
  Bytes out;
  for (const ByBucket& moment : moments.held) out = std::max(out, tensors_of(moment));
  return out;
}

}  // namespace oomplan::advise
