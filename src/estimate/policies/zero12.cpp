// DeepSpeed's ZeRO, stages 1 and 2 (deepspeed 0.19.8: deepspeed/runtime/zero/stage_1_and_2.py; the order of the
// engine's calls: deepspeed/runtime/engine.py). Names are theirs. One stream is played: what record_stream keeps longer
// on a GPU is not counted. Where the flat copy of the weights does not fit beside them, they go by the host first, so
// that it is counted alone.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "decay.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/plan.hpp"
#include "optimizer.hpp"
#include "policies/mixed_dtype.hpp"
#include "policies/policies.hpp"
#include "registered.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::uint8_t reduction_stream = 1;  ///< Where overlap_comm is set.

constexpr std::int64_t nccl_start_alignment_factor = 2;

/// What a rank's partition holds of a parameter.
struct Slice {
  Parameter* parameter = nullptr;
  std::int64_t elements = 0;
};

/// A group of the optimizer's: parameters that are one flat tensor, cut into as many partitions as ranks.
struct Group {
  std::vector<Parameter*> members{};
  std::vector<std::int64_t> offsets{};  ///< In the flat tensor, of each member.
  Tensor flat{};                        ///< bit16_groups_flat
  std::int64_t partition_size = 0;
  std::vector<Slice> in_partition{};  ///< params_in_partition
  std::int64_t padding = 0;           ///< Of the partition's end.
  Parameters master{};                ///< single_partition_of_fp32_groups
  std::unique_ptr<Optimizer> optimizer{};
  std::vector<Tensor> accumulated{};  ///< all_grad_tensors
  std::vector<Tensor> averaged{};     ///< averaged_gradients
};

/// An entry of the bucket (IPGBucket.params).
struct Entry {
  Group* group = nullptr;
  std::size_t member = 0;

  Parameter& parameter() const { return *group->members[member]; }
  std::int64_t elements() const { return parameter().sizes.product(); }
};

class Zero12 final : public Policy, GradientHook {
 public:
  Zero12(const TrainingPlan& plan, std::int64_t rank)
      : mesh_(plan.mesh),
        rank_(rank),
        partitions_gradients_(plan.mesh.sharding.value == Sharding::zero2),
        offloads_(plan.mesh.zero_offload_optimizer.value),
        contiguous_(plan.mesh.zero_contiguous.value || offloads_),
        quantized_(plan.quantization.kind.value != Quantization::none) {}

  /// The engine casts what it is given; only a model that is quantized is on the GPU before that.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    p.held = p.whole = t.parameter(p.sizes, quantized_ ? dtype : dtype_of(dtype), p.trained);
  }

  void wrap(Torch& t, Parameters& parameters) override {
    for (Parameter& p : parameters) {
      // Scales of 4-bit weights are no parameters, and have no name.
      if (!p.name.empty() && p.held->dtype != dtype_of(p.held->dtype)) move(t, p, dtype_of(p.held->dtype));
    }
    for (Parameter& p : parameters) {
      if (p.trained) group_of(p).members.push_back(&p);
    }
    if (!mesh_.zero_decay_groups.value) order_as_registered(groups_.front().members);
    if (mesh_.zero_round_robin.value) {
      for (Group& group : groups_) take_turns(group);
    }
    std::erase_if(groups_, [](const Group& g) { return g.members.empty(); });
    for (Group& group : groups_) flatten(t, group);
    for (Group& group : groups_) make_master(t, group);
    if (offloads_ && !groups_.empty()) make_offload_buffer(t);
    t.gradient_hook = this;
  }

  void begin(Torch&, bool last) override {
    is_boundary_ = last;
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < group.members.size(); ++i) known_[group.members[i]->whole.get()] = {&group, i};
    }
  }

  /// process_gradients, a hook behind each gradient.
  void accumulated(Torch& t, const Tensor& leaf) override {
    const auto found = known_.find(leaf.get());
    if (found == known_.end() || (!contiguous_ && !mesh_.zero_overlap.value && !partitions_gradients_)) return;
    setup_buckets(t);
    if (partitions_gradients_ || mesh_.zero_overlap.value) reduce_ready(t, found->second);
  }

  /// engine.allreduce_gradients, once a backward pass is over.
  void finish(Torch& t) override {
    if (!partitions_gradients_ && !is_boundary_) return;
    if (!partitions_gradients_ && !mesh_.zero_overlap.value) reduce_all(t);
    epilogue(t);
  }

  void step(Torch& t, Optimizer&, const OptimizerFacts& facts, const Parameters&) override {
    if (!offloads_) norms(t);
    for (Group& group : groups_) {
      if (!offloads_) update(t, group, facts);
      group.averaged.clear();
    }
  }

 private:
  DType dtype_of(DType loaded) const {
    return is_floating(loaded) ? resolved(mesh_.zero_dtype.value).value_or(loaded) : loaded;
  }

  /// The parameter's memory becomes another's.
  static void move(Torch& t, const Parameter& p, DType dtype) {
    Restore layer(t.recorder.scope.layer, std::int16_t{p.layer()});
    Restore module(t.recorder.scope.module, std::int32_t{p.held->module});
    const Tensor made = t.parameter(p.held->sizes, dtype, false);
    std::swap(p.held->storage, made->storage);
    p.held->dtype = dtype;
  }

  Group& group_of(const Parameter& p) { return groups_[mesh_.zero_decay_groups.value && !decays(p) ? 1 : 0]; }

  /// _round_robin_reorder: a parameter for each rank, and again.
  void take_turns(Group& group) const {
    const auto ranks = static_cast<std::size_t>(mesh_.world_size.value);
    std::vector<Parameter*> ordered;
    for (std::size_t first = 0; first < std::min(ranks, group.members.size()); ++first) {
      for (std::size_t i = first; i < group.members.size(); i += ranks) ordered.push_back(group.members[i]);
    }
    group.members = std::move(ordered);
  }

  // --- what is held ------------------------------------------------------------------------------------------------

  void flatten(Torch& t, Group& group) {
    std::int64_t elements = 0;
    for (const Parameter* p : group.members) {
      group.offsets.push_back(elements);
      elements = saturating_add(elements, p->sizes.product());
    }
    const std::int64_t ranks = mesh_.world_size.value;
    const std::int64_t alignment = nccl_start_alignment_factor * ranks;
    group.partition_size = saturating_mul(divided_up(elements, alignment), nccl_start_alignment_factor);
    const DType dtype = group.members.front()->whole->dtype;
    const Tensor nothing = t.parameter({0}, dtype, false);
    for (Parameter* p : group.members) share(t, *p, nothing);
    group.flat = t.parameter({saturating_mul(group.partition_size, ranks)}, dtype, false);
    for (Parameter* p : group.members) share(t, *p, group.flat);
    find_partition(group, elements);
  }

  static void share(Torch& t, const Parameter& p, const Tensor& of) {
    const Tensor view = t.on_storage(of->storage, p.sizes, contiguous_strides(p.sizes), p.whole->dtype);
    std::swap(p.whole->storage, view->storage);
  }

  /// get_partition_info
  void find_partition(Group& group, std::int64_t elements) const {
    const std::int64_t start = saturating_mul(group.partition_size, rank_);
    const std::int64_t end = start + group.partition_size;
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const std::int64_t from = group.offsets[i];
      const std::int64_t to = from + group.members[i]->sizes.product();
      const std::int64_t held = std::min(to, end) - std::max(from, start);
      if (held > 0) group.in_partition.push_back({group.members[i], held});
    }
    group.padding = std::clamp<std::int64_t>(end - elements, 0, group.partition_size);
  }

  void make_master(Torch& t, Group& group) const {
    Parameter& master = group.master.emplace_back();
    master.sizes = {offloads_ ? 0 : group.partition_size};
    master.trained = true;
    master.held = master.whole = t.parameter(master.sizes, DType::fp32, true);
    t.recorder.at(master.held->storage).bucket = Bucket::optimizer;
    // initialize_optimizer_states makes a gradient and lets it go.
    if (!offloads_) t.empty({group.partition_size}, DType::fp32, "aten::zeros");
  }

  void make_offload_buffer(Torch& t) {
    Restore buffers(t.recorder.scope.bucket, Bucket::communication);
    std::int64_t largest = 0;
    for (const Group& group : groups_) {
      for (const Parameter* p : group.members) largest = std::max(largest, p->sizes.product());
    }
    offload_buffer_ = t.empty({largest}, dtype(), "deepspeed::temp_grad_buffer_for_gpu_offload");
  }

  DType dtype() const { return groups_.front().flat->dtype; }

  // --- reducing ----------------------------------------------------------------------------------------------------

  void setup_buckets(Torch& t) {
    if (std::exchange(is_ready_, true) || !contiguous_) return;
    Restore buckets(t.recorder.scope.bucket, Bucket::communication);
    buffers_.clear();
    index_ = 0;
    for (int i = 0; i < (mesh_.zero_overlap.value ? 2 : 1); ++i) {
      buffers_.push_back(t.empty({mesh_.zero_reduce_bucket.value}, dtype(), "deepspeed::ipg_buffer"));
    }
  }

  void reduce_all(Torch& t) {
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < group.members.size(); ++i) {
        if (group.members[i]->whole->grad) reduce_ready(t, {&group, i});
      }
    }
  }

  /// reduce_independent_p_g_buckets_and_remove_grads
  void reduce_ready(Torch& t, const Entry& entry) {
    if (!partitions_gradients_ && !is_boundary_) return;
    if (saturating_add(elements_, entry.elements()) > mesh_.zero_reduce_bucket.value) {
      reduce_ipg_grads(t);
      if (contiguous_ && mesh_.zero_overlap.value) index_ = 1 - index_;
    }
    Tensor& gradient = entry.parameter().whole->grad;
    if (contiguous_ && !is_extra_large(entry)) {
      gradient = on(t, buffers_[index_], entry.parameter());
    } else if (contiguous_ && offloads_) {
      gradient = t.empty(gradient->sizes, gradient->dtype, "aten::clone");  // Of an extra large one.
    }
    elements_ = saturating_add(elements_, entry.elements());
    entries_.push_back(entry);
  }

  bool is_extra_large(const Entry& entry) const { return entry.elements() > mesh_.zero_reduce_bucket.value; }

  static Tensor on(Torch& t, const Tensor& buffer, const Parameter& p) {
    return t.on_storage(buffer->storage, p.sizes, contiguous_strides(p.sizes), buffer->dtype);
  }

  void reduce_ipg_grads(Torch& t) {
    {
      Restore reduces(t.recorder.scope.bucket, Bucket::communication);
      Restore stream(t.recorder.scope.stream, mesh_.zero_overlap.value ? reduction_stream : std::uint8_t{0});
      if (!contiguous_) {
        reduce_each(t);
      } else if (mesh_.zero_reduce_scatter.value) {
        average_tensor(t);
      }
    }
    for (const Entry& entry : entries_) settle(t, entry);
    entries_.clear();
    elements_ = 0;
  }

  /// allreduce_bucket: several gradients are put together.
  void reduce_each(Torch& t) {
    if (entries_.size() > 1) t.empty({elements_}, dtype(), "aten::cat");
    for (const Parameter* p : std::exchange(previous_, {})) p->whole->grad.reset();
  }

  /// average_tensor and allreduce_and_scatter: neighbours of one rank are one slice, and several slices are put
  /// together, which go out once they are more than a bucket.
  void average_tensor(Torch& t) const {
    std::int64_t elements = 0;
    int slices = 0;
    const auto flush = [&] {
      if (slices > 1) t.empty({elements}, dtype(), "aten::cat");
      elements = slices = 0;
    };
    std::int64_t last = -1;
    std::int64_t pending = 0;
    const auto close = [&] {
      if (pending == 0) return;
      elements = saturating_add(elements, std::exchange(pending, 0));
      ++slices;
      if (elements > mesh_.zero_reduce_bucket.value) flush();
    };
    for (const Entry& entry : entries_) {
      const std::int64_t size = entry.group->partition_size;
      const std::int64_t to = entry.group->offsets[entry.member] + entry.elements();
      for (std::int64_t from = entry.group->offsets[entry.member]; from < to;) {
        const std::int64_t rank = from / size;
        const std::int64_t end = std::min(to, (rank + 1) * size);
        if (rank != last) close();
        last = rank;
        pending += end - from;
        from = end;
      }
    }
    close();
    flush();
  }

  /// What becomes of a gradient once it is reduced.
  void settle(Torch& t, const Entry& entry) {
    const Slice* slice = slice_of(entry);
    if (slice != nullptr && contiguous_) return offloads_ ? offload(t, *slice) : copy_to_partition(t, entry);
    if (slice != nullptr || !partitions_gradients_) return;
    if (mesh_.zero_overlap.value && !contiguous_) {
      previous_.push_back(&entry.parameter());
    } else {
      entry.parameter().whole->grad.reset();
    }
  }

  static const Slice* slice_of(const Entry& entry) {
    const auto& slices = entry.group->in_partition;
    const auto found = std::ranges::find(slices, &entry.parameter(), &Slice::parameter);
    return found == slices.end() ? nullptr : &*found;
  }

  /// copy_grads_in_partition: one tensor for whole gradients, if only a part of one is the rank's.
  void copy_to_partition(Torch& t, const Entry& entry) {
    if (!grads_in_partition_) {
      std::int64_t elements = 0;
      for (const Group& group : groups_) {
        for (const Slice& s : group.in_partition) elements = saturating_add(elements, s.parameter->sizes.product());
      }
      Restore gradients(t.recorder.scope.bucket, Bucket::gradients);
      grads_in_partition_ = t.empty({elements}, dtype(), "deepspeed::grads_in_partition");
    }
    entry.parameter().whole->grad = on(t, grads_in_partition_, entry.parameter());
  }

  /// The same to the host: a norm in double precision, then fp32. Micro-batches before the last one go by buffers that
  /// are there.
  void offload(Torch& t, const Slice& slice) const {
    if (!is_boundary_) return;
    t.empty({2, slice.elements}, DType::fp32, "deepspeed::norm");
    if (dtype() != DType::fp32) t.empty({slice.elements}, DType::fp32, "aten::_to_copy");
    slice.parameter->whole->grad.reset();
  }

  /// independent_gradient_partition_epilogue
  void epilogue(Torch& t) {
    if (!entries_.empty()) reduce_ipg_grads(t);
    for (const Parameter* p : std::exchange(previous_, {})) p->whole->grad.reset();
    if (!offloads_) take_gradients(t);
    buffers_.clear();
    grads_in_partition_.reset();
    is_ready_ = false;
    for (const Group& group : groups_) {
      for (const Parameter* p : group.members) p->whole->grad.reset();
    }
  }

  void take_gradients(Torch& t) {
    Restore gradients(t.recorder.scope.bucket, Bucket::gradients);
    for (Group& group : groups_) {
      if (group.accumulated.empty()) {
        for (const Slice& s : group.in_partition) group.accumulated.push_back(gradient_of(t, *s.parameter));
      }
      if (!is_boundary_) continue;
      group.averaged = std::exchange(group.accumulated, {});
      if (group.padding > 0) group.averaged.push_back(t.zeros({group.padding}, dtype()));
    }
  }

  static Tensor gradient_of(Torch& t, const Parameter& p) {
    return p.whole->grad ? p.whole->grad : t.zeros(p.sizes, p.whole->dtype);
  }

  // --- the step ----------------------------------------------------------------------------------------------------

  /// get_grad_norm_direct: in double precision, one after the other.
  void norms(Torch& t) const {
    for (const Group& group : groups_) {
      for (const Slice& s : group.in_partition) t.empty({2, s.elements}, DType::fp32, "aten::_to_copy");
    }
  }

  static Tensor part_of(Torch& t, const Tensor& whole, std::int64_t elements) {
    const Dims sizes{elements};
    return t.on_storage(whole->storage, sizes, contiguous_strides(sizes), whole->dtype);
  }

  void update(Torch& t, Group& group, const OptimizerFacts& facts) {
    Restore gradients(t.recorder.scope.bucket, Bucket::gradients);
    // One gradient, or the part of it that is the rank's, is taken as it is.
    const bool alone = group.averaged.size() == 1;
    Tensor flat = alone ? Tensor() : t.empty({group.partition_size}, dtype(), "aten::cat");
    Parameter& master = group.master.front();
    const bool casts = dtype() != DType::fp32;
    Tensor gradient = casts ? t.empty({group.partition_size}, DType::fp32, "aten::_to_copy") : flat;
    master.held->grad = gradient ? gradient : part_of(t, group.averaged.front(), group.partition_size);
    flat.reset();
    group.averaged.clear();
    Restore temporaries(t.recorder.scope.bucket, Bucket::temporaries);
    if (!group.optimizer) group.optimizer = make_optimizer(facts.name.value);
    group.optimizer->step(t, group.master);
    master.held->grad.reset();
  }

  const MeshFacts mesh_;
  const std::int64_t rank_;
  const bool partitions_gradients_;
  const bool offloads_;
  const bool contiguous_;
  const bool quantized_;
  bool is_boundary_ = true;
  bool is_ready_ = false;  ///< ready_for_gradients
  std::vector<Group> groups_ = std::vector<Group>(2);
  std::unordered_map<const TensorImpl*, Entry> known_{};
  std::vector<Tensor> buffers_{};
  std::size_t index_ = 0;
  std::vector<Entry> entries_{};
  std::int64_t elements_ = 0;
  std::vector<const Parameter*> previous_{};  ///< previous_reduced_grads
  Tensor grads_in_partition_{};
  Tensor offload_buffer_{};
};

}  // namespace

std::unique_ptr<Policy> zero12(const TrainingPlan& plan, std::int64_t rank) {
  return std::make_unique<Zero12>(plan, rank);
}

}  // namespace oomplan::estimator
