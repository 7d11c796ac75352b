// DeepSpeed's parameter coordinator (deepspeed 0.19.8: deepspeed/runtime/zero/partitioned_param_coordinator.py,
// partition_parameters.py): which parameters of stage 3 are whole, by the order of modules that the first step
// recorded. Names are theirs. One stream is played: what record_stream keeps longer on a GPU is not counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "parameter.hpp"

namespace oomplan::estimator::zero {

enum class Status : std::uint8_t { not_available, in_flight, available };

struct Sub;
struct Gather;

/// What ZeRO adds to a parameter.
struct Share {
  Parameter* parameter = nullptr;
  std::int64_t elements = 0;   ///< ds_numel
  std::int64_t partition = 0;  ///< Elements of the rank's.
  bool persists = false;       ///< ds_persist
  Status status = Status::not_available;
  std::vector<const Sub*> active{};  ///< ds_active_sub_modules
  std::int64_t fetched_for = 0;      ///< __most_recent_step_id_param_fetched_for
  Tensor data{};
  std::shared_ptr<Gather> in_flight{};  ///< In __inflight_param_registry.
};

/// A module with weights, or the root, which has those that are read outside of their own (external parameters), or a
/// block.
struct Sub {
  std::vector<Share*> shares{};
  std::vector<Share*> recomputed{};  ///< ds_recompute_parameters
  std::string_view path{};
  bool is_block = false;    ///< Without weights of its own.
  int grads_remaining = 0;  ///< ds_grads_remaining
};

template <class T>
void add_once(std::vector<T>& to, const T& what) {
  if (std::ranges::find(to, what) == to.end()) to.push_back(what);
}

class Coordinator {
 public:
  /// `shares` outlive it, and keep their addresses.
  Coordinator(const MeshFacts& mesh, std::vector<Share>& shares)
      : mesh_(mesh), ranks_(mesh.world_size.value), shares_(shares) {}

  /// Ahead of model(**batch).
  void reset_step(Torch& t);
  /// The parameters of a module are whole from here on, and those of the next ones are asked for.
  void forward(Torch& t, Sub& of);
  void backward(Torch& t, Sub& of);
  /// The same of a block.
  void enter_backward(Sub& of) { add_once(in_backward_, &of); }
  /// A module without weights: it only gathers ahead.
  void pass(Torch& t);
  /// One that no trace knows.
  void read(Torch& t, Share& share);
  /// This rank's part on the GPU, for as long as it is gathered; nothing where it is there at any rate.
  Tensor own_part(Torch& t, const Share& share) const;
  /// One that is parted again as soon as what is returned is let go.
  Tensor gathered(Torch& t, Share& share) const;
  void release(Sub& of, bool forward);
  /// The modules whose backward nothing ended.
  void end_backward();
  void partition_all_parameters(Torch& t);
  static void make_whole(Torch& t, Share& share, std::int64_t elements);

 private:
  enum class Trace : std::uint8_t { invalid, record, complete };

  struct InTrace {
    Share* share = nullptr;
    std::int64_t last_used_at = 0;
  };

  void trace_prologue(Torch& t, Sub& of);
  void clean_registry(Torch& t);
  void construct_trace();
  /// What modules gather is made on it.
  std::uint8_t stream_of(const Torch& t) const;
  void fetch(Torch& t, Sub& of, bool forward);
  void discard_fetched(const Sub& of);
  void gather_ahead(Torch& t);
  void gather(Torch& t, const std::vector<Share*>& shares, bool counts);
  static void wait(Torch& t, Share& share);
  void release(Share& share);
  const std::vector<Share*>& params_to_release(const Sub& of);

  const MeshFacts& mesh_;
  const std::int64_t ranks_;
  std::vector<Share>& shares_;
  std::vector<Sub*> in_backward_{};  ///< __active_backward_submodules
  Trace trace_ = Trace::invalid;
  std::vector<Sub*> order_{};                                                        ///< __submodule_order
  std::vector<InTrace> in_trace_{};                                                  ///< __param_order
  std::deque<InTrace> queue_{};                                                      ///< __param_queue
  std::map<std::pair<const Sub*, std::int64_t>, std::vector<Share*>> to_release_{};  ///< By module and step.
  std::int64_t step_ = 0;                                                            ///< __step_id
  std::int64_t available_ = 0;                                                       ///< __n_available_params
};

}  // namespace oomplan::estimator::zero
