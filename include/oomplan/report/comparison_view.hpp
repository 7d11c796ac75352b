// A comparison on paper.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/compare/comparison.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {

/// What `oomplan compare` found.
struct ComparisonView {
  std::string config{};
  std::string gpu{};  ///< Whose cuBLAS workspaces are in the prediction; "" where none is named.
  Comparison found{};
  Diagnostics warnings{};  ///< The plan's.
};

struct ComparisonOptions {
  bool colour = false;  ///< Escape sequences for a terminal.
  std::size_t width = usual_width;
};

/// For people: the peaks, the first difference, those that come to most, phases and buckets.
std::string comparison_text(const ComparisonView& view, const ComparisonOptions& options = {});

/// One JSON object as docs/compare.schema.json has it.
std::string comparison_json(const ComparisonView& view);

/// The same where there is nothing to compare, for what `problems` say.
std::string comparison_json(const std::string& config, const std::string& file, Verdict verdict,
                            const Diagnostics& problems);

}  // namespace oomplan
