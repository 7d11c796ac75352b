// What of quantized, adapted and fake-quantized weights is not played; part of check().
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "oomplan/catalog/architecture.hpp"
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

/// Whether layers stay in 16 bits of which nobody says which they are; the plan has all of them.
inline bool has_open_layers(const TrainingPlan& plan) {
  const QuantizationFacts& q = plan.quantization;
  return q.kind.value != Quantization::none && q.checkpoint.value == 0 && !q.skipped.value.empty() &&
         q.skipped.origin.kind == Origin::Kind::assumed;
}

void check_weights(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
