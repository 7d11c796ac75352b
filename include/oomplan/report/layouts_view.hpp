// Layouts on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/report/report.hpp"
#include "oomplan/survey/layout.hpp"

namespace oomplan {

/// What `oomplan plan` found.
struct LayoutsView {
  std::string config{};  ///< The model or the config that was asked about.
  std::string recipe{};  ///< The command that stands for a model; "" where the config is a file.
  Gpu gpu{};
  LayoutWorld world{};
  std::int64_t rows = 0;               ///< Of a step, on all GPUs together: as many at least.
  double headroom = 0;                 ///< Of gpu.total, 0 to 1.
  std::vector<Layout> layouts{};       ///< Sorted.
  std::optional<MeshCounts> meshes{};  ///< Where the layouts are meshes.
  std::vector<std::string> files{};    ///< That were written, for the first.
};

struct LayoutsViewOptions {
  bool colour = false;  ///< Escape sequences for a terminal.
  std::size_t width = usual_width;
};

/// For people: the first ten that fit as a table, what does not fit, and the files of the first.
std::string layouts_text(const LayoutsView& view, const LayoutsViewOptions& options = {});

/// One JSON object as docs/plan.schema.json has it.
std::string layouts_json(const LayoutsView& view);

/// The same where there is no answer, for what `problems` say.
std::string layouts_json(const std::string& config, const Diagnostics& problems);

}  // namespace oomplan
