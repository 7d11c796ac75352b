// What of quantized, adapted and fake-quantized weights is not played; part of check().
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// At the place that the fact comes from.
inline Diagnostic error_of(std::string_view code, std::string message, const Origin& origin) {
  return {.code = std::string(code), .message = std::move(message), .where = origin.where};
}
inline Diagnostic unmodelled(std::string message, const Origin& origin) {
  return error_of("estimate/unmodelled", std::move(message), origin);
}

void check_weights(const TrainingPlan& plan, Diagnostics& errors);

}  // namespace oomplan::estimator
