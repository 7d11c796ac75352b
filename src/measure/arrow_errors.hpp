// Arrow's errors as ours.
#pragma once

#include <arrow/status.h>

#include <string>

#include "pool.hpp"
#include "source.hpp"

namespace oomplan::measure {

/// measure/over-budget where the pool refused, otherwise measure/bad-file.
inline Diagnostic arrow_error(const std::string& path, const std::string& what, const std::string& why,
                              const LimitedPool& pool) {
  if (pool.refused() > 0) return over_budget({path}, what, pool.refused(), pool.limit());
  return bad_file(path, what + ": " + why);
}

}  // namespace oomplan::measure
