// Fits a calibration from what oomplan's trainer callback records, and reads one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/calibrate/calibration.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"
#include "oomplan/read/log_text.hpp"

namespace oomplan {

/// A run: what was predicted of it, and the most that was measured.
struct MeasuredRun {
  std::string card{};
  std::string torch{};  ///< "2.11.0+cu130"
  Bytes predicted_allocated{};
  Bytes predicted_reserved{};
  Bytes allocated{};
  Bytes reserved{};
  std::optional<Bytes> beside{};  ///< In use on the device, less what PyTorch had reserved then; the least.
};

struct MeasuredRuns {
  std::vector<MeasuredRun> runs{};
  std::int64_t left_out = 0;  ///< That say too little, or whose prediction rests on a calibration.
  bool torn = false;          ///< The last line breaks off, as where a run was killed; it is left out.
};

/// The runs of a runs.jsonl: a prediction begins one, and what the same process measures until the next belongs to it.
/// One that has no step is left out. Errors, with the line:
/// calibrate/bad-runs   a line that is no JSON object, is longer than 64 KiB, or has a size that is none
/// read/too-large       more than 200,000 lines
Result<MeasuredRuns> read_runs(LogText& file, const std::string& name);

/// As few runs of a card and version of PyTorch as terms are fitted from: one more than there are terms of the pool.
inline constexpr std::int64_t fewest_runs = 4;

/// The most that read_calibration() takes: bytes, a part of 1 of the tensors, and of 1 of what was measured.
inline constexpr double largest_term = 1125899906842624.0;  // 2^50: of no card
inline constexpr double largest_slack = 100;
inline constexpr double largest_error = 1e6;

/// By non-negative least squares, for each card and version of PyTorch (major and minor):
///   allocated - predicted              = workspaces
///   reserved - predicted               = residue + slack * predicted allocated
///   in use on the device - reserved    = context
/// A card whose runs are fewer, or whose reserved peaks are predicted worse by terms of the other runs than without
/// any, has the context alone, which is judged by nothing, or none where that was not measured.
/// Terms beyond what read_calibration() takes are none. Of n runs the time is n log n.
Calibration calibrate(const MeasuredRuns& runs);

/// Reads what calibration_json() wrote. Error: calibrate/bad-profile.
Result<Calibration> read_calibration(const Document& document);

/// "2.11" of "2.11.0+cu130".
std::string minor_version(std::string_view version);

}  // namespace oomplan
