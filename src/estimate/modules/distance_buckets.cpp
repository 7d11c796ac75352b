#include "modules/distance_buckets.hpp"

namespace oomplan::estimator {

Tensor distance_buckets(Torch& t, const Dims& sizes, bool decodes, bool named) {
  const auto next = [&](DType dtype, const char* op) { return t.empty(sizes, dtype, op); };
  Tensor buckets;
  Tensor distances;
  if (decodes) {
    const Tensor zeros = next(DType::int64, "aten::zeros_like");
    const Tensor least = next(DType::int64, "aten::minimum");
    distances = next(DType::int64, "aten::neg");
  } else {
    Tensor later = t.to(next(DType::boolean, "aten::gt"), DType::int64);
    later = t.mul_scalar(later);
    buckets = t.add_scalar(later);
    later.reset();
    distances = next(DType::int64, "aten::abs");
  }
  const Tensor small = next(DType::boolean, "aten::lt");
  Tensor ratio = t.to(distances, DType::fp32);
  for (const char* op : {"aten::div", "aten::log", "aten::div", "aten::mul"}) ratio = next(DType::fp32, op);
  Tensor large = t.to(ratio, DType::int64);
  if (!named) ratio.reset();
  large = t.add_scalar(large);
  {
    const Tensor last = next(DType::int64, "aten::full_like");
    large = next(DType::int64, "aten::minimum");
  }
  Tensor chosen = next(DType::int64, "aten::where");
  return buckets ? buckets : t.add_scalar(chosen);
}

}  // namespace oomplan::estimator
