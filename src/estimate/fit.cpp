#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "held_on.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/plan/rollout.hpp"

namespace oomplan {
namespace {

// Backward runs on a thread of its own, with a cuBLAS handle and so a workspace of its own; neither is ever freed.
constexpr int cublas_handles = 2;

/// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp: check_flash_attention_hardware_support. Below it Liger's fused
/// linear cross entropy accumulates the head's gradient otherwise (liger_kernel/ops/fused_linear_cross_entropy.py).
constexpr double newer_capability = 8.0;

constexpr std::string_view flash = "flash attention";

/// What the run was played with and older GPUs do otherwise; empty where there is nothing.
std::string_view newer_kernel(const TrainingPlan& plan, const Footprint& footprint) {
  if (!footprint.newer_kernel.empty()) return footprint.newer_kernel;
  const Loss loss = plan.recipe.loss.value;
  const bool liger = loss == Loss::liger_fused_linear || loss == Loss::liger_0_8_0_fused_linear;
  if (loss == Loss::cut_cross_entropy) return "cut cross entropy";
  return liger ? "Liger's fused linear cross entropy as it is played" : "";
}

// What fits is not monotone in the memory, and what is on a card beside the run varies: so cards between the limit and
// the whole are tried too.
constexpr int cards_between = 5;

bool ends_down_to(const Reservation& reservation, Bytes room, Bytes less) {
  std::vector<Bytes> rising;
  for (int i = cards_between; i > 0; --i) rising.push_back(room - Bytes(less.count() / cards_between * i));
  return reservation.ends_in(rising);
}

FitVerdict verdict_of(const Reservation& reservation, const Needed& needed, Bytes room, Bytes most, Bytes less) {
  if (!needed.ends) return FitVerdict::does_not_fit;
  const bool leaves = needed.either <= most && ends_down_to(reservation, room, less);
  return leaves ? FitVerdict::fits : FitVerdict::at_the_edge;
}

}  // namespace

bool is_older(const Gpu& gpu) {
  const std::optional<double> capability = parse_number(gpu.compute_capability);
  return capability && *capability < newer_capability;
}

std::optional<double> parse_headroom(std::string_view text) {
  const bool sign = text.ends_with('%');
  if (sign) text.remove_suffix(1);
  const std::optional<double> percent = parse_number(text);
  if (!percent || *percent < 0 || *percent >= 100) return std::nullopt;
  const bool unclear = !sign && *percent > 0 && *percent < 1;
  return unclear ? std::nullopt : std::optional(*percent / 100);
}

Bytes limit_of(const Gpu& gpu, double headroom) {
  return gpu.total - Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(gpu.total.count()) * headroom)));
}

namespace {

Bytes logits_at_most(const Footprint& footprint) {
  Bytes most;
  for (const PhasePeak& peak : footprint.peaks) most = std::max(most, at(peak.by_bucket, Bucket::logits_and_loss));
  return most;
}

/// Unsloth's loss is in parts of which each has at most half of what is free on the card (fused_losses/
/// cross_entropy_loss.py: _get_chunk_multiplier). Where that is less than the part as it was played, and the logits are
/// not so few that they are one part at any rate, there are more and smaller parts.
bool has_other_parts(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu) {
  const Setting<std::int64_t>& part = plan.recipe.loss_part;
  if (plan.recipe.loss.value != Loss::unsloth_fused || part.origin.is_said()) return false;
  // What PyTorch has reserved by then counts, and is more than the tensors: those of the whole run's peak stand for it.
  const Bytes taken = footprint.peak.total + sum(runtime_terms(gpu, plan));
  const Bytes half = taken < gpu.total ? Bytes((gpu.total - taken).count() / 2) : Bytes();
  const Bytes logits = logits_at_most(footprint);
  constexpr std::int64_t fewest_parts = 4;
  return half < Bytes(part.value) && (logits > half || logits >= Bytes(part.value / fewest_parts));
}

/// Under Unsloth vLLM's weights are the policy's.
bool shares_weights(const TrainingPlan& plan) {
  return has_vllm(plan.recipe) && plan.kernels.unsloth.value != UnslothLayers::none;
}

/// unsloth_zoo/vllm_utils.py: load_vllm, of vLLM 0.11 and later that sleeps, whatever part was asked for; of what is
/// free before it loads.
Bytes share_while_awake(const Gpu& gpu) {
  struct Tier {
    double tenth_gib;
    double part;
  };
  constexpr auto tiers =
      std::to_array<Tier>({{4.0, 0.925}, {2.5, 0.9}, {2.0, 0.825}, {1.4, 0.8}, {1.0, 0.775}, {0.0, 0.75}});
  constexpr double later_vllm = 0.95;
  const double tenth = static_cast<double>(gpu.total.count()) / static_cast<double>(Bytes::gib(10).count());
  const auto* tier = std::ranges::find_if(tiers, [&](const Tier& t) { return tenth >= t.tenth_gib; });
  const double free = static_cast<double>((gpu.total - gpu.context).count());
  return Bytes(static_cast<std::int64_t>(std::ceil(free * tier->part * later_vllm)));
}

/// vllm/v1/worker/utils.py: request_memory, of the whole card whatever else is on it; from 0.22 on its CUDA graphs are
/// in it. Its cache of keys and values takes what its weights and the batch that it tries leave.
Bytes share_of_vllm(const Gpu& gpu, const TrainingPlan& plan) {
  if (shares_weights(plan)) return share_while_awake(gpu);
  const double share = static_cast<double>(gpu.total.count()) * plan.recipe.vllm_share.value;
  return Bytes(static_cast<std::int64_t>(std::ceil(share)));
}

/// At the least: vLLM loads what the checkpoint has in 32 bits in 16, and what is quantized in 4 bits.
Bytes weights_of_vllm(const TrainingPlan& plan, const Footprint& footprint) {
  const QuantizationFacts& quantized = plan.quantization;
  const bool adapted = plan.adapter.kind.value != Adapter::none;
  const std::int64_t own = footprint.parameters - (adapted ? footprint.trainable_parameters : 0);
  const bool whole = quantized.kind.value == Quantization::none && quantized.dequantized.value == Dequantized::none;
  constexpr std::int64_t in_16_bits = 2;
  return whole ? Bytes(in_16_bits) * own : Bytes(own / 2);
}

/// vllm/v1/core/kv_cache_utils.py: its weights are to leave room for a cache.
std::optional<Diagnostic> stopped_by_vllm(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu) {
  if (!has_vllm(plan.recipe) || shares_weights(plan)) return std::nullopt;
  const Bytes share = share_of_vllm(gpu, plan);
  const Bytes weights = weights_of_vllm(plan, footprint);
  const bool fits = footprint.peak.tensors() + share + gpu.context <= gpu.total;  // Else that is the answer.
  if (share > weights || !fits) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/vllm-stops";
  d.message = fmt::format("vLLM stops the run: of {1} it may take {0}, and its copy of the weights takes {2} at least",
                          to_text(share), gpu.title, to_text(weights));
  d.where = plan.recipe.vllm_share.origin.where;
  constexpr double steps = 100;
  const double part = static_cast<double>(weights.count()) / static_cast<double>(gpu.total.count());
  const std::string_view key = plan.dialect == "oomplan" ? "vllm_share" : "vllm_gpu_memory_utilization";
  d.hint = part < 1 ? fmt::format("{} has to be above {:.2f} on it, with a cache beside the weights", key,
                                  std::ceil(part * steps) / steps)
                    : "no part of this GPU is enough for it";
  return d;
}

Diagnostic other_parts(const TrainingPlan& plan, const Gpu& gpu) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message =
      fmt::format("less than twice {} may be free on {} before the first loss, which Unsloth then makes in other parts",
                  to_text(Bytes(plan.recipe.loss_part.value)), gpu.title);
  d.hint = "--set loss_part=…: half of the bytes that are free then";
  return d;
}

/// What vLLM keeps while it sleeps, beside weights: CUDA graphs, of 0.04 to 1.15 GiB in outputs of Unsloth's notebooks,
/// and its copies of adapters (0.26 GiB at rank 64 of Llama 3.2 3B).
constexpr Bytes most_asleep = Bytes::mib(2048);
constexpr Bytes least_asleep = Bytes::mib(41);

/// While it is awake, beside its part of the card: CUDA graphs, and of the run adapters, optimizer and rollout.
constexpr Bytes most_graphs = Bytes::mib(1178);
constexpr Bytes most_beside_awake = Bytes::mib(3328);

/// Of the run, while vLLM is awake: adapters in fp32, and all that is no weight.
Bytes held_while_awake(const Footprint& footprint) {
  Bytes beside;
  for (const PhasePeak& peak : footprint.peaks) {
    if (peak.phase != Phase::generation) continue;
    beside = std::max(beside, peak.tensors() - at(peak.by_bucket, Bucket::weights));
  }
  constexpr std::int64_t in_fp32 = 4;
  return beside + Bytes(in_fp32) * footprint.trainable_parameters;
}

/// vLLM awake, of which the figure for a card is the most.
Bytes needed_awake(const TrainingPlan& plan, const Gpu& gpu) {
  return gpu.context + share_of_vllm(gpu, plan) + most_beside_awake;
}

/// rl_replacements.py: autotune_batch_and_chunks. A rollout is scored at once where 0.8 of what is free has room for
/// 16 bytes of each of its numbers and for a part of its logits.
bool scores_in_parts(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu) {
  constexpr double room_for_one = 2.5;  // 16 bytes over 4 parts, of logits in 2; the rest is for hidden states.
  const std::int64_t completion = std::max<std::int64_t>(plan.batch.completion_length.value, 1);
  const std::int64_t rows = saturating_mul(logits_at_most(footprint).count(), batches_of_rollout(plan));
  const double whole = static_cast<double>(rows) * static_cast<double>(plan.batch.sequence_length.value) /
                       static_cast<double>(completion) * room_for_one;
  const Bytes taken = footprint.peak.total + gpu.context + most_asleep;
  const double free = taken < gpu.total ? static_cast<double>((gpu.total - taken).count()) : 0;
  constexpr double used = 0.8;
  return whole > free * used;
}

std::optional<Diagnostic> undecided_under_unsloth(const TrainingPlan& plan, const Footprint& footprint,
                                                  const Gpu& gpu) {
  if (!shares_weights(plan)) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  const Bytes beside = held_while_awake(footprint) + most_graphs;
  if (beside > most_beside_awake) {
    d.message = fmt::format("beside vLLM while it is awake the run may hold {}, and more than {} is not modelled yet",
                            to_text(beside), to_text(most_beside_awake));
  } else if (needed_awake(plan, gpu) > gpu.total) {
    d.message = fmt::format("vLLM may not wake: of {} it takes {} under Unsloth, and the run keeps the rest", gpu.title,
                            to_text(share_of_vllm(gpu, plan)));
  } else if (scores_in_parts(plan, footprint, gpu)) {
    d.message = fmt::format(
        "{} may have too little free for a rollout to be scored at once, and Unsloth's parts of it "
        "are not modelled yet",
        gpu.title);
  } else {
    return std::nullopt;
  }
  return d;
}

}  // namespace

std::optional<Diagnostic> undecided_on(const TrainingPlan& plan, const Footprint& footprint, const Gpu& gpu) {
  if (auto under_unsloth = undecided_under_unsloth(plan, footprint, gpu)) return under_unsloth;
  if (auto stopped = stopped_by_vllm(plan, footprint, gpu)) return stopped;
  if (has_other_parts(plan, footprint, gpu)) {
    std::optional<Diagnostic> open = open_layers_of(plan);  // With less of them there may be room for whole parts.
    return open ? open : other_parts(plan, gpu);
  }
  const std::string_view kernel = newer_kernel(plan, footprint);
  Diagnostic d;
  d.code = "estimate/unmodelled";
  if (!is_older(gpu)) {
    const Setting<bool>& older = plan.kernels.older_gpu;
    if (!older.value || gpu.compute_capability.empty()) return std::nullopt;
    d.message = fmt::format("attention is played as on a compute capability below 8.0, and {} has {}", gpu.title,
                            gpu.compute_capability);
    d.where = older.origin.where;
    return d;
  }
  if (kernel.empty()) return std::nullopt;
  const Setting<Attention>& attention = plan.kernels.attention;
  const bool by_unsloth = plan.kernels.unsloth.value != UnslothLayers::none;  // Which takes xformers there.
  if (kernel == flash && takes_flash(attention.value) && !by_unsloth) {
    d.message = fmt::format("{} (compute capability {}) does not run FlashAttention 2, at which the run stops",
                            gpu.title, gpu.compute_capability);
    d.where = attention.origin.where;
    d.hint = "attention by sdpa runs on it: --set plan.attention=sdpa plays that";
    return d;
  }
  d.message = fmt::format("{} (compute capability {}) does not run {}, and what it runs instead is not modelled yet",
                          gpu.title, gpu.compute_capability, kernel);
  return d;
}

std::optional<Diagnostic> undecided_on(const Reservation& reservation, const Gpu& gpu, const TrainingPlan& plan) {
  const Bytes room = gpu.total - sum(runtime_terms(gpu, plan));
  if (reservation.played() || room < reservation.least()) return std::nullopt;
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("the tensors take {}, and the allocator is not played on cards of more than {}",
                          to_text(reservation.least()), to_text(Card::unlimited));
  return d;
}

namespace {

/// Of a pipeline one with each neighbour, which torch makes for what is only sent or only received, and one of all for
/// what is both (torch/distributed/pipelining/schedules.py: _batch_p2p).
int communicators_of_pipeline(const MeshFacts& mesh) {
  if (!is_pipelined(mesh)) return 0;
  const int neighbours = mesh.pipeline_parallel.value > 2 ? 2 : 1;
  return neighbours + (mesh.pipeline_schedule.value == PipelineSchedule::one_f_one_b ? 1 : 0);
}

/// How many communicators a rank has: one of all ranks, or HSDP one of shards and one of replicas; one of those that
/// share its matrices, and of those that share its rows; and a pipeline's.
int communicators_of(const MeshFacts& mesh) {
  const int of_model =
      (mesh.tensor_parallel.value > 1 ? 1 : 0) + (is_context_parallel(mesh) ? 1 : 0) + communicators_of_pipeline(mesh);
  if (mesh.sharding.value == Sharding::none || data_ranks(mesh) < 2) return of_model;
  return of_model + (mesh.sharding.value != Sharding::ddp && mesh.fsdp_replicas.value > 1 ? 2 : 1);
}

constexpr std::string_view nccl = "NCCL communicators";

/// What each takes by its first collective, as figures of runs have it.
constexpr Bytes most_of_nccl = Bytes::mib(1526);
constexpr Bytes least_of_nccl = Bytes::mib(544);

/// What vLLM lets go of after it has tried a batch of as many tokens as it may be given, as figures of its logs have
/// it: 0.22 GiB (vllm-ascend pull request 8289) to 1.26 GiB (vllm pull request 10511).
constexpr Bytes most_of_its_trial = Bytes::mib(1291);

RuntimeTerm term_of_vllm(const Gpu& gpu, const TrainingPlan& plan) {
  if (shares_weights(plan)) {
    return {std::string(vllm_term), most_asleep,
            "what vLLM keeps while it sleeps, beside the weights that it shares: CUDA graphs and copies of adapters; "
            "outputs of Unsloth's notebooks have 0.04 to 1.4 GiB of it",
            least_asleep};
  }
  const Bytes share = share_of_vllm(gpu, plan);
  return {std::string(vllm_term), share,
          "vllm: request_memory, of the whole card: its weights, its cache and CUDA graphs, and up to 1.26 GiB in "
          "which it tried its largest batch and which it may let go of",
          share - std::min(share, most_of_its_trial)};
}

/// Of what lies beside the pool that the run is replayed on.
Bytes apart_in(const std::vector<RuntimeTerm>& terms) {
  Bytes out;
  for (const RuntimeTerm& term : terms) {
    if (term.name == nccl || term.name == vllm_term) out += term.bytes;
  }
  return out;
}

void add_order(const Needed& needed, std::vector<Contribution>& unknown) {
  if (needed.usual >= needed.either) return;
  unknown.push_back({"address order",
                     "where the driver puts segments: at the least with the mostly descending order, at the most with "
                     "the ascending one",
                     {},
                     needed.either - needed.usual});
}

/// To a vLLM server, over a communicator of its ranks and the first of these.
bool sends_weights(const TrainingPlan& plan) {
  return plan.recipe.kind.value == RecipeKind::grpo && plan.recipe.generation.value == Generation::elsewhere;
}

}  // namespace

std::vector<RuntimeTerm> runtime_terms(const Gpu& gpu, const TrainingPlan& plan) {
  std::vector<RuntimeTerm> terms{
      {"CUDA context", gpu.context, gpu.context_source},
      {"cuBLAS workspaces", gpu.cublas_workspace * cublas_handles,
       "torch: CublasHandlePool, one a thread that multiplies matrices (forward and backward); in PyTorch's pool"}};
  if (has_vllm(plan.recipe)) terms.push_back(term_of_vllm(gpu, plan));
  const int communicators = communicators_of(plan.mesh) + (sends_weights(plan) ? 1 : 0);
  if (communicators == 0) return terms;
  terms.push_back(
      {std::string(nccl), most_of_nccl * communicators,
       "NVIDIA/nccl issue 864: 1.6 GB for the first; 544 MiB to that by ranks, topology and channels (issue "
       "964), of which the most is counted",
       least_of_nccl * communicators});
  return terms;
}

namespace estimator {

namespace {

/// Where vLLM takes more while it is awake than a step does: what undecided_on has found room for.
void wake(const TrainingPlan& plan, const Gpu& gpu, Fit& fit) {
  const Bytes awake = needed_awake(plan, gpu);
  if (awake <= fit.needed) return;
  const Bytes more = awake - fit.needed;
  const auto is_vllm = [](const auto& one) { return one.name == vllm_term; };
  const auto term = std::ranges::find_if(fit.runtime, is_vllm);
  if (term == fit.runtime.end()) return;
  term->bytes += more;
  term->lowest = term->bytes - std::min(term->bytes, most_of_its_trial + most_beside_awake - least_asleep);
  term->source =
      "vLLM while it is awake, with the weights that it shares: load_vllm (unsloth_zoo/vllm_utils.py) gives it a part "
      "of the card by its size; beside that CUDA graphs, adapters and optimizer, and up to 1.26 GiB in which it tried "
      "its largest batch and which it may let go of";
  fit.apart += more;
  fit.needed = awake;
  if (fit.verdict == FitVerdict::fits && awake > gpu.total - fit.wanted) fit.verdict = FitVerdict::at_the_edge;
  std::erase_if(fit.unknown, is_vllm);
  fit.unknown.push_back({term->name, term->source, *term->lowest, term->bytes});
}

}  // namespace

Fit held_on(const Reservation& reservation, const Gpu& gpu, Bytes limit, Bytes paged, const TrainingPlan& plan) {
  Fit out{.gpu = gpu,
          .runtime = runtime_terms(gpu, plan),
          .wanted = gpu.total - limit,
          .at_least = !reservation.played(),
          .paged = paged};
  out.apart = apart_in(out.runtime);
  for (const RuntimeTerm& term : out.runtime) {
    if (term.lowest) out.unknown.push_back({term.name, term.source, *term.lowest, term.bytes});
  }
  const Bytes beside = sum(out.runtime) - reservation.workspaces();
  const Bytes room = gpu.total - beside;
  if (reservation.played()) {
    const Needed needed = reservation.needed_in(room);
    out.verdict = verdict_of(reservation, needed, room, limit - beside, out.wanted);
    out.needed = beside + needed.either;
    add_order(needed, out.unknown);
  } else {
    out.verdict = room < reservation.least() ? FitVerdict::does_not_fit : FitVerdict::undecided;
    out.needed = beside + reservation.least();
  }
  if (shares_weights(plan)) wake(plan, gpu, out);
  out.headroom = gpu.total - out.needed;
  return out;
}

}  // namespace estimator

Fit fit(const Reservation& reservation, const Gpu& gpu, Bytes paged, const TrainingPlan& plan,
        const std::vector<Contribution>& unknown, double headroom) {
  Fit out = estimator::held_on(reservation, gpu, limit_of(gpu, headroom), paged, plan);
  out.unknown.insert(out.unknown.begin(), unknown.begin(), unknown.end());
  if (out.ends() && !has_vllm(plan.recipe))
    out.torch = reservation.peaks_in(gpu.total - (sum(out.runtime) - reservation.workspaces()));
  return out;
}

Bytes paged_of(const Footprint& footprint) {
  Bytes most;
  for (const PhasePeak& peak : footprint.peaks) most = std::max(most, at(peak.by_bucket, Bucket::paged));
  return most;
}

}  // namespace oomplan
