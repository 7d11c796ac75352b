// What a training run holds, when, and why.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/dtype.hpp"
#include "oomplan/estimate/events.hpp"
#include "oomplan/plan/phase.hpp"

namespace oomplan {

enum class Bucket : std::uint8_t {
  weights,           ///< Parameters, quantised or not, adapters included.
  optimizer,         ///< State that lives from step to step.
  gradients,         ///< Of parameters.
  activations,       ///< Saved for backward, recomputed ones included.
  attention_scores,  ///< Tensors of sequence² size.
  logits_and_loss,   ///< Made by the head and the loss, forward and backward.
  autocast_copies,   ///< Low-precision copies of weights made by autocast.
  temporaries,       ///< Live inside an op or between two, then gone.
  inputs,            ///< Batches and the model's buffers.
  gathered,          ///< Whole parameters that a rank holds shards of, and the buffers that bring them.
  communication,     ///< Buffers in which ranks reduce gradients.
  slack,             ///< Reserved by the caching allocator in wholly free segments: given back before it gives up.
  fragmentation,     ///< Reserved and free, but in segments or pages that hold tensors too: nobody's until those go.
  paged,             ///< State of a paged optimizer: CUDA's managed memory, on the card while there is room, else in
                     ///< host RAM. Not the caching allocator's, and in no total.
  runtime,  ///< Beside the tensors: cuBLAS workspaces, in PyTorch's pool; and the CUDA context, beside it. While
            ///< a run is played also what CUDA kernels take for themselves, which is of no moment.
};
inline constexpr std::array<std::string_view, 15> bucket_names{
    "weights",         "optimizer",       "gradients",     "activations", "attention_scores",
    "logits_and_loss", "autocast_copies", "temporaries",   "inputs",      "gathered",
    "communication",   "slack",           "fragmentation", "paged",       "runtime"};
inline constexpr std::size_t bucket_count = bucket_names.size();
constexpr std::string_view name_of(Bucket bucket) { return bucket_names[static_cast<std::size_t>(bucket)]; }

using ByBucket = std::array<Bytes, bucket_count>;
constexpr Bytes& at(ByBucket& by, Bucket bucket) { return by[static_cast<std::size_t>(bucket)]; }
constexpr Bytes at(const ByBucket& by, Bucket bucket) { return by[static_cast<std::size_t>(bucket)]; }

/// The highest moment of one phase of one step.
struct PhasePeak {
  Phase phase = Phase::load;
  int step = 0;  ///< From 1; 0 is load.
  Bytes total{};
  ByBucket by_bucket{};  ///< Adds up to `total`, but for what is paged.

  /// What the tensors take, without cuBLAS's workspaces and what the allocator reserves beyond them.
  constexpr Bytes tensors() const {
    return total - at(by_bucket, Bucket::slack) - at(by_bucket, Bucket::fragmentation) - at(by_bucket, Bucket::runtime);
  }
};

/// Allocations alive at a moment, alike in all but their layer: `count` tensors of `shape`, `bytes` together.
struct LiveGroup {
  Bucket bucket = Bucket::temporaries;
  Phase born = Phase::load;
  std::string op{};      ///< The framework's op that made them ("aten::mm"), or what they are ("parameter").
  std::string module{};  ///< The module they were made in, layer numbers as '*' ("model.layers.*.mlp").
  std::vector<std::int64_t> shape{};
  DType dtype = DType::fp32;
  int first_layer = -1;  ///< -1 outside the blocks.
  int last_layer = -1;
  std::int64_t count = 0;
  Bytes bytes{};  ///< Each storage rounded up to 512 bytes, as the CUDA caching allocator does.
};

/// A parameter as one rank holds it from step to step, for what the host has of it.
struct HeldParameter {
  std::int64_t elements = 0;  ///< Of the whole parameter.
  std::int64_t rows = 1;      ///< Of its first dimension, along which FSDP2 cuts.
  std::int64_t layers = 1;    ///< How many real layers it stands for.
  int layer = -1;             ///< Of the layers played; -1 outside the blocks.
  DType dtype = DType::fp32;
  bool trained = false;
  bool adapter = false;
  bool expert = false;    ///< Of all experts of a layer together.
  bool of_policy = true;  ///< Of the model that is trained; else of one that is only asked.
  bool decayed = true;    ///< The optimizer's first group of parameters has it (get_decay_parameter_names).
};

/// The estimate of one training run on one device: what PyTorch's allocator has handed out, by phase and bucket.
/// Sizes are allocated bytes; what is paged lies beside them, and is in no total. Slack, fragmentation and runtime are
/// zero until count_reserved().
struct Footprint {
  std::int64_t parameters = 0;  ///< Tied weights counted once; a quantised weight counts its elements.
  std::int64_t trainable_parameters = 0;
  std::vector<std::string> unmatched_targets{};  ///< LoRA targets that no module is; others are some.
  bool scans = false;  ///< It is that of transformers' own code for layers that packages of kernels have too.
  std::vector<PhasePeak> peaks{};         ///< Load, then each phase of step 1 and of step 2, in order of time.
  PhasePeak peak{};                       ///< The highest of them.
  std::vector<LiveGroup> at_peak{};       ///< Everything alive at the peak but what is paged, largest first.
  std::vector<PhasePeak> bucket_peaks{};  ///< For each bucket, in order: the moment when it is largest.
  std::vector<std::vector<LiveGroup>> at_bucket_peaks{};  ///< For each bucket: its groups at that moment.
  std::vector<std::string> attention_kernels{};           ///< The kernels that SDPA chose ("flash").
  std::vector<HeldParameter> held{};                      ///< Of all models; none of Detail::peaks.
  std::string newer_kernel{};   ///< One of them that only GPUs of compute capability 8.0 and up have; empty: none.
  std::vector<Event> events{};  ///< Every allocation and free in order, all layers counted, and a mark where a phase
                                ///< begins, its value a PhaseOfStep's code.
  std::vector<std::size_t> cublas_handles{};  ///< The events before which a thread first multiplies matrices.
  /// The slots of what kernels take for themselves are those from it on.
  std::uint32_t first_scratch = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace oomplan
