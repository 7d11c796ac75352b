// A dtype of a mixed precision policy.
#pragma once

#include <array>
#include <optional>

#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

inline std::optional<DType> resolved(MixedDType dtype) {
  constexpr std::array<DType, 4> dtypes{DType::fp32, DType::fp32, DType::bf16, DType::fp16};
  if (dtype == MixedDType::as_held) return std::nullopt;
  return dtypes[static_cast<std::size_t>(dtype)];
}

}  // namespace oomplan::estimator
