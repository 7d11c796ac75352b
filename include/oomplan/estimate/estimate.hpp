// The estimator: plays a training run and reads the peaks off its timeline.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/estimate/range.hpp"
#include "oomplan/estimate/reservation.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// How much of a footprint is wanted; each holds what those before it do. Peaks alone are the cheapest.
enum class Detail : std::uint8_t {
  peaks,   ///< at_peak, bucket_peaks, at_bucket_peaks and events stay empty.
  groups,  ///< events stay empty.
  events,  ///< Everything.
};

/// Plays load and two optimizer steps of `plan` on one device, or one step of each of plan.lengths. Errors:
/// estimate/unmodelled (one for each entry of plan.unmodelled and for each combination that no op can play),
/// estimate/too-large (sizes that no machine has), estimate/no-target (LoRA on nothing), estimate/too-long (more
/// positions than the model can address).
Result<Footprint> estimate(const TrainingPlan& plan, const Architecture& architecture, Detail detail = Detail::groups);

/// Every allocation that load and two steps make, as `LiveGroup`s alike in all but their layer, the group that takes
/// most first. Errors as estimate().
Result<std::vector<LiveGroup>> allocations(const TrainingPlan& plan, const Architecture& architecture);

/// What of the footprint's peak depends on facts that the plan assumes at their most; `footprint` is the plan's, before
/// count_reserved(). Each is played once more with the fact at its least.
std::vector<Contribution> unknown_of(const TrainingPlan& plan, const Architecture& architecture,
                                     const Footprint& footprint);

/// A term of a GPU's memory beside the tensors.
struct RuntimeTerm {
  std::string name{};
  Bytes bytes{};  ///< At the most.
  std::string source{};
  std::optional<Bytes> lowest{};  ///< Where figures differ: the lowest.
};

/// What vLLM takes of the GPU that trains, among the terms.
inline constexpr std::string_view vllm_term = "vLLM";

/// What lies beside the run's tensors on a GPU: the CUDA context, beside PyTorch's allocator; cuBLAS's workspaces,
/// which it hands out; between ranks NCCL's communicators; and vLLM where it writes the completions on the GPU that
/// trains.
std::vector<RuntimeTerm> runtime_terms(const Gpu& gpu, const TrainingPlan& plan = {});
inline Bytes sum(const std::vector<RuntimeTerm>& terms) {
  Bytes out;
  for (const RuntimeTerm& term : terms) out += term.bytes;
  return out;
}

/// A run held against a GPU.
struct Fit {
  Gpu gpu{};
  std::vector<RuntimeTerm> runtime{};  ///< As runtime_terms() says.
  Bytes needed{};    ///< The CUDA context and the smallest memory, workspaces included, that the run ends in; where it
                     ///< does not end on this card, the smallest above it. What is paged is not in it: it makes room.
  Bytes headroom{};  ///< gpu.total - needed; negative where it does not fit.
  Bytes wanted{};    ///< How much of the card is to stay free.
  bool at_least = false;  ///< `needed` is a bound from below: the allocator was not played so far.
  Bytes paged{};          ///< Managed memory at its largest.
  Bytes apart{};          ///< NCCL's communicators and vLLM, beside the pool that the run is replayed on.
  FitVerdict verdict = FitVerdict::does_not_fit;
  std::vector<Contribution> unknown{};  ///< What of `needed` is not known; each counts in it with its upper end.
  std::optional<TorchPeaks> torch{};  ///< Where the run ends on this card: what torch.cuda prints of it. Nothing where
                                      ///< vLLM's tensors, of which PyTorch counts some, are beside it.

  /// What nvidia-smi shows for the process at its highest.
  Bytes nvidia_smi() const { return gpu.context + apart + torch.value_or(TorchPeaks{}).reserved; }
  /// With the headroom that is wanted.
  bool fits() const { return verdict == FitVerdict::fits; }
  /// Whether the run ends on this card.
  bool ends() const { return fits() || verdict == FitVerdict::at_the_edge; }
  /// `needed` is its upper end.
  Range range() const { return range_below(needed, unknown); }
  /// It does not fit, but with less of what is not known it would.
  bool may_fit() const {
    const bool short_of_it = verdict == FitVerdict::does_not_fit || verdict == FitVerdict::at_the_edge;
    return short_of_it && !at_least && range().is_open() && range().lower <= gpu.total - wanted;
  }
  /// Whether this is the worse of two answers for one card: by verdict, then by what is needed.
  bool is_worse_than(const Fit& other) const {
    return verdict != other.verdict ? verdict > other.verdict : needed > other.needed;
  }
  /// What of `paged` the card has no room for beside what is needed: the driver moves so much to host RAM at the least.
  Bytes paged_to_host() const { return std::clamp(needed + paged - gpu.total, Bytes(0), paged); }
};

/// The part of a card that stays free, where nobody says another.
inline constexpr double usual_headroom = 0.05;
inline constexpr std::string_view usual_headroom_text = "5%";

/// "5%" or "5": per cent, as a part of 1. Nothing for what is negative or 100 % and above, nor for "0.05": that may be
/// meant as a part of 1, and has to say so with its sign.
std::optional<double> parse_headroom(std::string_view text);
inline constexpr std::string_view headroom_hint = "5%; where less than one per cent is meant, with its sign: 0.05%";

/// What is left of the card where the part `headroom` of it, 0 to 1, is to stay free.
Bytes limit_of(const Gpu& gpu, double headroom);

/// Replays the run on the card less the runtime terms, and on smaller ones down to `headroom` less. `paged`: managed
/// memory, which gives way to the allocator's; `unknown`: what unknown_of() says. The verdict is that of the upper end
/// of all that is not known, so that a run which fits only with less of it does not fit. Undecided where the tensors
/// fit and the allocator cannot be played.
Fit fit(const Reservation& reservation, const Gpu& gpu, Bytes paged = {}, const TrainingPlan& plan = {},
        const std::vector<Contribution>& unknown = {}, double headroom = usual_headroom);

/// The managed memory of a run at its largest.
Bytes paged_of(const Footprint& footprint);

/// Whether its compute capability is below 8.0, where attention has other kernels (KernelFacts::older_gpu).
bool is_older(const Gpu& gpu);
/// Why the plan's footprint says nothing of this GPU: one without the kernels that it was played with
/// (estimate/unmodelled). Nothing where it holds.
std::optional<Diagnostic> undecided_on(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu);
/// Why nothing is known of the run on a card as large as this one, where its tensors would fit: the allocator is not
/// played so far (estimate/unmodelled).
std::optional<Diagnostic> undecided_on(const Reservation& reservation, const Gpu& gpu, const TrainingPlan& plan = {});

}  // namespace oomplan
