// Whether a plan fits cards, no more of it worked out than the answer needs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/ranks.hpp"

namespace oomplan {

/// Where a checkpoint leaves layers in 16 bits and nobody says which: why a card that all of them are too much for may
/// be large enough.
std::optional<Diagnostic> open_layers_of(const TrainingPlan& plan);

struct CheckedFit {
  Bytes needed{};              ///< As in Fit.
  bool at_least = false;       ///< The tensors alone are too much, so `needed` is a bound from below.
  bool fits = false;           ///< Within the limit.
  bool fragmentation = false;  ///< It does not fit though its tensors would: what the allocator strands is too much.
  Bytes paged_to_host{};       ///< As in Fit.
  Diagnostics errors{};        ///< Those of estimate() and undecided_on(): why there is no figure.
};

/// First the tensors alone, which is quick; the allocator is played only where they fit, and once for all cards with
/// the same cuBLAS workspaces; of several kinds of rank the one that needs most counts. A card is held against the plan
/// with the attention of its compute capability (KernelFacts::older_gpu). The plan and the architecture outlive it.
class FitCheck {
 public:
  FitCheck(const TrainingPlan& plan, const Architecture& architecture);

  /// Whether the plan fits `gpu`, of which it may need `limit` at most.
  CheckedFit on(const Gpu& gpu, Bytes limit);
  /// What the plan needs of `gpu` for certain, without a replay; nothing where it cannot be estimated.
  std::optional<Bytes> least_on(const Gpu& gpu) const;
  /// The plan's peaks, or why it cannot be estimated.
  const Result<Footprint>& peaks() const { return peaks_; }
  /// Whether the allocator was played.
  bool replayed() const { return !reservations_.empty(); }

 private:
  struct Other;
  FitCheck& for_capability_of(const Gpu& gpu);
  CheckedFit as_played_on(const Gpu& gpu, Bytes limit);
  const Result<Reservation>& replayed_with(Bytes workspace, std::int64_t shard);
  Result<Fit> worst_on(const Gpu& gpu, Bytes limit);

  const TrainingPlan& plan_;
  const Architecture& architecture_;
  Result<Footprint> peaks_;
  std::map<std::pair<Bytes, std::int64_t>, Result<Reservation>>
      reservations_{};  ///< By the size of a cuBLAS workspace, and the rank's shard.
  std::vector<RankKind> kinds_{};
  std::shared_ptr<Other> other_{};  ///< On the other side of compute capability 8.0, once such a card is asked of.
};

}  // namespace oomplan
