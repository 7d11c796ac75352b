#include "oomplan/estimate/fit_check.hpp"

#include <utility>

#include "held_on.hpp"
#include "weight_checks.hpp"

namespace oomplan {

namespace {

/// The tensors and what lies beside them for certain: while loading nothing is multiplied yet.
Bytes at_least_beside(const Footprint& footprint, const Gpu& gpu, const TrainingPlan& plan) {
  const bool loading = footprint.peak.phase == Phase::load;
  return footprint.peak.tensors() + (loading ? gpu.context : sum(runtime_terms(gpu, plan)));
}

}  // namespace

std::optional<Diagnostic> open_layers_of(const TrainingPlan& plan) {
  if (!estimator::has_open_layers(plan)) return std::nullopt;
  Diagnostic out = estimator::unmodelled("which layers the checkpoint leaves in 16 bits decides whether the run fits",
                                         plan.quantization.skipped.origin);
  out.hint =
      "--set plan.unquantized_modules=[…], what its config.json has under llm_int8_skip_modules, or "
      "--set plan.checkpoint_bytes=…, what its .safetensors files come to";
  return out;
}

struct FitCheck::Other {
  explicit Other(const FitCheck& of) : plan(of.plan_), check(flipped(plan), of.architecture_) {}

  TrainingPlan plan;
  FitCheck check;

 private:
  static const TrainingPlan& flipped(TrainingPlan& plan) {
    plan.kernels.older_gpu.value = !plan.kernels.older_gpu.value;
    return plan;
  }
};

FitCheck::FitCheck(const TrainingPlan& plan, const Architecture& architecture)
    : plan_(plan), architecture_(architecture), peaks_(estimate(plan, architecture, Detail::peaks)) {}

const Result<Reservation>& FitCheck::replayed_with(Bytes workspace, std::int64_t shard) {
  const auto known = reservations_.find({workspace, shard});
  if (known != reservations_.end()) return known->second;
  const auto keep = [&](Result<Reservation> result) -> const Result<Reservation>& {
    return reservations_.emplace(std::pair(workspace, shard), std::move(result)).first->second;
  };
  const Result<AllocatorSettings> settings = parse_alloc_conf(plan_.runtime.alloc_conf.value, "alloc_conf");
  if (!settings) return keep(settings.errors());
  Result<Footprint> footprint = estimate_shard(plan_, architecture_, shard);
  if (!footprint) return keep(footprint.errors());
  Workspaces beside{workspace, std::move(footprint->cublas_handles), footprint->first_scratch};
  return keep(Reservation(std::move(footprint->events), *settings, beside));
}

/// Of the kind of rank that needs most.
Result<Fit> FitCheck::worst_on(const Gpu& gpu, Bytes limit) {
  if (kinds_.empty()) {
    Result<std::vector<RankKind>> kinds = rank_kinds(plan_, architecture_);
    if (!kinds) return kinds.errors();
    kinds_ = std::move(*kinds);
  }
  std::optional<Fit> worst;
  for (const RankKind& kind : kinds_) {
    const Result<Reservation>& reservation = replayed_with(gpu.cublas_workspace, kind.shard);
    if (!reservation) return reservation.errors();
    if (const auto undecided = undecided_on(*reservation, gpu, plan_)) return *undecided;
    Fit held = estimator::held_on(*reservation, gpu, limit, paged_of(*peaks_), plan_);
    if (!worst || held.is_worse_than(*worst)) worst = std::move(held);
  }
  return std::move(*worst);
}

std::optional<Bytes> FitCheck::least_on(const Gpu& gpu) const {
  return peaks_ ? std::optional(at_least_beside(*peaks_, gpu, plan_)) : std::nullopt;
}

FitCheck& FitCheck::for_capability_of(const Gpu& gpu) {
  if (gpu.compute_capability.empty() || is_older(gpu) == plan_.kernels.older_gpu.value) return *this;
  if (!other_) other_ = std::make_shared<Other>(*this);
  return other_->check;
}

CheckedFit FitCheck::on(const Gpu& gpu, Bytes limit) { return for_capability_of(gpu).as_played_on(gpu, limit); }

CheckedFit FitCheck::as_played_on(const Gpu& gpu, Bytes limit) {
  if (!peaks_) return {.errors = peaks_.errors()};
  if (const auto undecided = undecided_on(plan_, *peaks_, gpu)) return {.errors = {*undecided}};
  const Bytes tensors = at_least_beside(*peaks_, gpu, plan_);
  const std::optional<Diagnostic> open = open_layers_of(plan_);
  if (tensors > limit && open) return {.errors = {*open}};
  if (tensors > limit) return {.needed = tensors, .at_least = true};
  const Result<Fit> held = worst_on(gpu, limit);
  if (!held) return {.errors = held.errors()};
  if (!held->fits() && open) return {.errors = {*open}};
  return {.needed = held->needed,
          .at_least = held->at_least,
          .fits = held->fits(),
          .fragmentation = !held->fits(),
          .paged_to_host = held->paged_to_host()};
}

}  // namespace oomplan
