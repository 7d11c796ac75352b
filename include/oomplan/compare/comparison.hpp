// A predicted run held against what a memory snapshot says of a real one. Sizes are bytes; those of tensors are what
// was asked for, rounded up to 512, as PyTorch's allocator rounds them by default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/plan/phase.hpp"

namespace oomplan {

/// How much of a run a snapshot shows.
enum class Coverage : std::uint8_t {
  whole,     ///< Its trace begins with nothing in use.
  cut,       ///< Its trace begins within the run: recording began late, or kept the last max_entries.
  end_only,  ///< It has no trace: what was in use when it was written, and no more.
};
inline constexpr std::array<std::string_view, 3> coverage_names{"whole", "cut", "end_only"};
constexpr std::string_view name_of(Coverage c) { return coverage_names[static_cast<std::size_t>(c)]; }

/// What says in which phase an allocation of a snapshot was made.
enum class ToldBy : std::uint8_t {
  exported,  ///< It is an export of oomplan's, which says it in a frame of its own.
  frames,    ///< The frames of Python and of the autograd engine.
  order,     ///< Nothing; allocations are lined up by their order alone.
  nothing,   ///< Nor does the order.
};
inline constexpr std::array<std::string_view, 4> told_by_names{"export", "frames", "order", "nothing"};
constexpr std::string_view name_of(ToldBy by) { return told_by_names[static_cast<std::size_t>(by)]; }

/// A tensor of the prediction.
struct PredictedTensor {
  Bucket bucket = Bucket::temporaries;
  std::string op{};
  std::string module{};  ///< "model.layers.3.mlp"; of several that are alike, layer numbers as '*'.
};

enum class DifferenceKind : std::uint8_t { only_observed, only_predicted, other_size, freed_later, freed_sooner };
inline constexpr std::array<std::string_view, 5> difference_names{"only_observed", "only_predicted", "other_size",
                                                                  "freed_later", "freed_sooner"};
constexpr std::string_view name_of(DifferenceKind k) { return difference_names[static_cast<std::size_t>(k)]; }

/// A tensor in which both runs differ, or several that are alike.
struct Difference {
  DifferenceKind kind = DifferenceKind::only_observed;
  std::int64_t count = 1;
  Bytes predicted{};                        ///< Of one; 0 where the prediction has none.
  Bytes observed{};                         ///< Of one; 0 where the snapshot has none.
  std::optional<PhaseOfStep> at{};          ///< Of the first; nothing where that is not told.
  std::optional<PredictedTensor> tensor{};  ///< Nothing of what only the snapshot has.
  std::int64_t entry = 0;                   ///< Of the snapshot's trace, from 1, of the first; 0 where it has none.
  std::uint32_t stack = 0;                  ///< Of the snapshot, of the first; 0 where it has none.
  std::vector<std::string> frames{};        ///< Of that stack, the innermost first.
  /// What the difference comes to.
  Bytes bytes() const {
    const bool held = kind == DifferenceKind::freed_later || kind == DifferenceKind::freed_sooner;
    const Bytes apart = predicted < observed ? observed - predicted : predicted - observed;
    return (held ? predicted : apart) * count;
  }
};

/// The highest moment of both within a phase of a step; nothing where it is not in that one.
struct ComparedPhase {
  PhaseOfStep at{};
  std::optional<Bytes> predicted{};
  std::optional<Bytes> observed{};
};

/// What one bucket holds, each side at its own highest moment; of a snapshot without a trace, at its end and at the
/// nearest end of a phase of the prediction.
struct ComparedBucket {
  std::string name{};  ///< Of a bucket; "not_predicted"; "not_told", of a size that several buckets have.
  Bytes predicted{};
  Bytes observed{};
};

/// How many tensors of one size are in use, at the same moments.
struct ComparedSize {
  Bytes size{};
  std::int64_t predicted = 0;
  std::int64_t observed = 0;
  std::optional<PredictedTensor> tensor{};  ///< One of them.
  std::vector<std::string> frames{};        ///< Of one of them.
};

/// At which moment of the prediction as much of each size is in use as in the snapshot.
struct SeenMoment {
  std::vector<PhaseOfStep> after{};       ///< The ends of phases that it can be; step 0 of load, none: before the run.
  std::optional<bool> optimizer_state{};  ///< Whether the optimizer's state is there; nothing where that is not told.
  Bytes apart{};                          ///< What is in use in one of both only, at the nearest.
  std::string undecided{};                ///< Why it is not told.
};

struct Comparison {
  std::string file{};
  std::int64_t device = 0;
  Coverage coverage = Coverage::whole;
  ToldBy told_by = ToldBy::nothing;
  std::string undecided{};      ///< Why nothing, or not all, could be lined up.
  std::int64_t entries = 0;     ///< Of the snapshot's trace.
  std::int64_t lined_up = 0;    ///< Allocations of the snapshot that were held against the prediction's.
  std::int64_t steps = 0;       ///< Steps that the snapshot shows, whole or not; 0 where that is not told.
  bool ends_early = false;      ///< The prediction goes on behind the snapshot's end; its peaks are those before it.
  Bytes predicted_allocated{};  ///< At the peak, as the next three: the allocator's blocks and segments.
  Bytes predicted_reserved{};
  std::optional<Bytes> observed_allocated{};  ///< Without a trace when the snapshot was written.
  std::optional<Bytes> observed_reserved{};
  Bytes end_allocated{};  ///< When the snapshot was written.
  Bytes end_reserved{};
  SeenMoment begins{};  ///< Of a trace that is cut.
  SeenMoment ends{};
  std::vector<ComparedPhase> phases{};
  std::vector<ComparedBucket> buckets{};
  std::vector<ComparedSize> sizes{};      ///< That differ, what comes to most first; 100 at the most.
  std::optional<Difference> first{};      ///< In the order of time.
  std::vector<Difference> differences{};  ///< Those alike together, what comes to most first; 100 at the most.
  std::int64_t more_differences = 0;

  bool is_lined_up() const { return coverage == Coverage::end_only ? ends.undecided.empty() : lined_up > 0; }
  /// In all that could be lined up.
  bool is_same() const { return is_lined_up() && !first && (coverage != Coverage::end_only || ends.apart == Bytes()); }
};

}  // namespace oomplan
