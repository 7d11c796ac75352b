// What is not played even on the largest card.
#pragma once

#include "oomplan/core/result.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/allocator.hpp"

namespace oomplan::estimator {

inline Diagnostic too_large() {
  return {.code = "estimate/too-large",
          .message = "the allocator is not played on cards of more than " + to_text(Card::unlimited)};
}

}  // namespace oomplan::estimator
