// DeepSpeed's ZeRO, stage 3 (deepspeed 0.19.8: deepspeed/runtime/zero/stage3.py, parameter_offload.py): what a rank
// holds of weights, gradients and the optimizer's state, and the hooks around modules. Names are theirs. Hooks stand
// around every module that has weights; those without any only gather ahead, which is done here as the next module
// below them is reached.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "decay.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/plan.hpp"
#include "optimizer.hpp"
#include "policies/mixed_dtype.hpp"
#include "policies/policies.hpp"
#include "policies/zero3_coordinator.hpp"

namespace oomplan::estimator {
namespace {

using zero::Share;
using zero::Sub;

constexpr std::uint8_t reduce_and_partition_stream = 2;  ///< … beside the coordinator's, where overlap_comm is set.

/// A sub-group of the optimizer's.
struct SubGroup {
  std::vector<Share*> members{};
  std::int64_t elements = 0;
  Parameters master{};
  std::unique_ptr<Optimizer> optimizer{};
};

/// The modules that a leaf stands in, below its layer: ".self_attn".
struct Above {
  std::string_view path{};
  std::int16_t layer = -1;

  /// How many of them are the other's too.
  std::int64_t shared_with(const Above& other) const {
    if (layer != other.layer) return 0;
    std::int64_t shared = 0;
    for (std::size_t i = 0; i < path.size() && i < other.path.size() && path[i] == other.path[i]; ++i) {
      const auto ends = [&](std::string_view p) { return i + 1 == p.size() || p[i + 1] == '.'; };
      if (ends(path) && ends(other.path)) ++shared;
    }
    return shared;
  }
};

MeshFacts of_reference(MeshFacts mesh) {
  mesh.zero_prefetch = mesh.zero_reference_prefetch;
  mesh.zero_persistence = mesh.zero_reference_persistence;
  return mesh;
}

class Zero3 final : public Policy, GradientHook {
 public:
  Zero3(const TrainingPlan& plan, bool trained)
      : mesh_(trained ? plan.mesh : of_reference(plan.mesh)), ranks_(plan.mesh.world_size.value), trained_(trained) {}

  /// What ops are given has no memory of its own, but where it is gathered.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    const DType held = is_floating(dtype) ? resolved(mesh_.zero_dtype.value).value_or(dtype) : dtype;
    p.held = p.whole = t.parameter({0}, held, p.trained);
    p.whole->sizes = p.sizes;
    p.whole->strides = contiguous_strides(p.sizes);
  }

  void wrap(Torch& t, Parameters& parameters) override {
    shares_.reserve(parameters.size());
    for (Parameter& p : parameters) {
      if (!is_floating(p.whole->dtype)) continue;
      const std::int64_t elements = p.sizes.product();
      shares_.push_back({&p, elements, divided_up(elements, ranks_)});
    }
    for (Share& share : shares_) known_.emplace(share.parameter->whole.get(), &share);
    for (const Share& share : shares_) {
      const std::string_view name = share.parameter->name;
      const std::size_t at = name.rfind(".lora_A.");
      if (at != name.npos) adapted_.insert(name.substr(0, at));
    }
    mark_persistent_parameters();
    partition(t);
    t.zero3_linear = true;
    if (!trained_) return;
    create_sub_groups(t);
    create_buffers(t);
    t.gradient_hook = this;
  }

  // --- hooks of modules --------------------------------------------------------------------------------------------

  void enter_model(Torch& t) override {
    if (!gathered_.empty()) return;
    coordinator_.reset_step(t);
    for (std::size_t i = 0; !adapted_.empty() && i < wrappers_of_peft; ++i) coordinator_.pass(t);
    coordinator_.forward(t, root_);
    coordinator_.pass(t);  // The base model.
    above_ = {};
  }

  void leave_model(Torch& t, std::initializer_list<Tensor*> outputs) override {
    if (!gathered_.empty()) return;
    coordinator_.release(root_, true);
    for (Tensor* output : outputs) {
      if (*output && (*output)->requires_grad && t.grad_enabled) *output = before_backward(t, root_, *output);
    }
  }

  /// A block's own hooks are outside of its checkpoint: what a reentrant one gathers for its recomputation is the
  /// block's until its backward is over, of parameters that are not trained.
  bool stands_around_checkpoints(bool /*reentrant*/) const override { return true; }

  Tensor enter_block(Torch& t, int layer, const Tensor& input) override {
    return is_hooked() ? after_backward(t, block(layer), input) : input;
  }

  Tensor leave_block(Torch& t, int layer, const Tensor& output) override {
    return is_hooked() ? before_backward(t, block(layer), output) : output;
  }

  Tensor enter_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& input) override {
    if (!gathered_.empty()) return input;
    Sub& of = sub_of(weights);
    if (of.shares.empty()) return input;
    gather_ahead_of_modules_above(t, of);
    coordinator_.forward(t, of);
    return after_backward(t, of, input);
  }

  /// The recomputation of a block is over as soon as the last module in it has saved what it saves.
  Tensor leave_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& output) override {
    if (!gathered_.empty()) return output;
    Sub& of = sub_of(weights);
    if (of.shares.empty()) return output;
    const bool recomputes = t.recorder.scope.phase == Phase::backward;
    if (recomputes && &of == last_of_block(t)) return output;
    if (!recomputes) last_[t.recorder.scope.layer] = &of;
    coordinator_.release(of, true);
    return before_backward(t, of, output);
  }

  void enter_bare(Torch& t) override {
    if (gathered_.empty()) coordinator_.pass(t);
  }

  /// ZeROOrderedDict: what is read outside of its module's forward function becomes the caller's. peft reads its own
  /// for their type alone.
  Tensor read_weight(Torch& t, const Tensor& whole) override {
    Share* share = known_.at(whole.get());
    if (share->parameter->part == Part::adapter || !gathered_.empty()) return whole;
    if (share->status == zero::Status::not_available) {
      zero::add_once(root_.shares, share);
      coordinator_.read(t, *share);
    }
    return whole;
  }

  // --- GatheredParameters, which parts even what persists as it ends ------------------------------------------------

  Tensor gathered(Torch& t, const Parameter& p) override {
    const auto found = known_.find(p.whole.get());
    if (found == known_.end()) return {};
    Share& share = *found->second;
    if (!gathered_.empty()) return gathered_[&share - shares_.data()];
    Tensor whole = coordinator_.gathered(t, share);
    const Tensor own = coordinator_.own_part(t, share);
    return whole;
  }

  /// _allgather_params_coalesced: all parts that are on the host are there at once.
  void unshard_all(Torch& t) override {
    std::vector<Tensor> own;
    for (Share& share : shares_) {
      Restore layer(t.recorder.scope.layer, share.parameter->layer());
      own.push_back(coordinator_.own_part(t, share));
    }
    for (Share& share : shares_) {
      Restore layer(t.recorder.scope.layer, share.parameter->layer());
      gathered_.push_back(coordinator_.gathered(t, share));
    }
    let_go(t, own);
  }

  void reshard_all(Torch& t) override { let_go(t, gathered_); }

  // --- gradients ---------------------------------------------------------------------------------------------------

  void begin(Torch&, bool last) override { is_boundary_ = last; }

  /// reduce_independent_p_g_buckets_and_remove_grads
  void accumulated(Torch& t, const Tensor& leaf) override {
    const auto found = known_.find(leaf.get());
    if (found == known_.end()) return;
    Share& share = *found->second;
    const std::int64_t size = mesh_.zero_reduce_bucket.value;
    if (elements_ > 0 && saturating_add(elements_, share.elements) > size) reduce_and_partition(t);
    if (mesh_.zero_contiguous.value && saturating_add(elements_, share.elements) <= size) {
      leaf->grad = t.on_storage(bucket_->storage, leaf->sizes, leaf->strides, leaf->dtype);
    }
    bucketed_.push_back(&share);
    elements_ = saturating_add(elements_, share.elements);
  }

  /// independent_gradient_partition_epilogue, and the modules whose input asked for no gradient.
  void finish(Torch& t) override {
    reduce_and_partition(t);
    coordinator_.end_backward();
    above_ = {};
  }

  void step(Torch& t, Optimizer&, const OptimizerFacts& facts, const Parameters&) override {
    coordinator_.partition_all_parameters(t);
    if (!mesh_.zero_offload_optimizer.value) {
      for (const SubGroup& group : groups_) {
        for (const Share* share : group.members) t.empty({2, share->partition}, DType::fp32, "aten::_to_copy");
      }
      for (SubGroup& group : groups_) update(t, group, facts);
    }
    for (Share& share : shares_) {
      if (share.persists) zero::Coordinator::make_whole(t, share, saturating_mul(share.partition, ranks_));
    }
  }

 private:
  /// A tensor of each share.
  void let_go(Torch& t, std::vector<Tensor>& all) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      Restore layer(t.recorder.scope.layer, shares_[i].parameter->layer());
      all[i].reset();
    }
    all.clear();
  }

  // --- what is held ------------------------------------------------------------------------------------------------

  void mark_persistent_parameters() {
    std::int64_t all = 0;
    const std::int64_t most = mesh_.zero_model_persistence.value;
    for (Share& share : shares_) {
      if (most > 0 && saturating_add(all, share.elements) > most) continue;
      share.persists = share.elements <= mesh_.zero_persistence.value;
      if (share.persists) all = saturating_add(all, share.elements);
    }
  }

  /// Frozen parameters have a tensor each, those that are trained a part of one.
  void partition(Torch& t) {
    if (mesh_.zero_offload_params.value) return;
    std::int64_t trained = 0;
    for (const Share& share : shares_) {
      if (trained_ && share.parameter->trained) {
        trained = saturating_add(trained, share.partition);
      } else {
        partitions_.push_back(t.parameter({share.partition}, share.parameter->whole->dtype, false));
      }
    }
    partitions_.push_back(t.parameter({trained}, dtype(), false));
  }

  DType dtype() const { return shares_.front().parameter->whole->dtype; }

  void create_sub_groups(Torch& t) {
    for (const bool apart : {false, true}) {
      std::vector<Share*> of_group;
      for (Share& share : shares_) {
        const bool undecayed = mesh_.zero_decay_groups.value && !decays(*share.parameter);
        if (share.parameter->trained && undecayed == apart) of_group.push_back(&share);
      }
      cut(of_group);
    }
    for (SubGroup& group : groups_) make_master(t, group);
  }

  /// _create_fp16_sub_groups
  void cut(const std::vector<Share*>& of_group) {
    bool opens = true;
    for (Share* share : of_group) {
      if (std::exchange(opens, false)) groups_.emplace_back();
      SubGroup& group = groups_.back();
      group.members.push_back(share);
      group.elements = saturating_add(group.elements, share->partition);
      opens = group.elements >= mesh_.zero_sub_group.value;
    }
  }

  void make_master(Torch& t, SubGroup& group) const {
    Parameter& master = group.master.emplace_back();
    master.sizes = {mesh_.zero_offload_optimizer.value ? 0 : group.elements};
    master.trained = true;
    master.held = master.whole = t.parameter(master.sizes, DType::fp32, true);
    t.recorder.at(master.held->storage).bucket = Bucket::optimizer;
  }

  void create_buffers(Torch& t) {
    {
      Restore buffers(t.recorder.scope.bucket, Bucket::communication);
      if (mesh_.zero_contiguous.value)
        bucket_ = t.empty({mesh_.zero_reduce_bucket.value}, dtype(), "deepspeed::ipg_bucket");
    }
    if (mesh_.zero_offload_optimizer.value) return;
    Restore gradients(t.recorder.scope.bucket, Bucket::gradients);
    std::int64_t elements = 0;
    for (const SubGroup& group : groups_) elements = saturating_add(elements, group.elements);
    grad_partitions_ = t.empty({elements}, dtype(), "deepspeed::grad_partitions_flat_buffer");
  }

  // --- modules -----------------------------------------------------------------------------------------------------

  Sub& sub_of(std::initializer_list<const Tensor*> weights) {
    const Tensor* first = nullptr;
    for (const Tensor* weight : weights) {
      if (first == nullptr && *weight && known_.contains(weight->get())) first = weight;
    }
    if (first == nullptr) return nothing_;
    const auto [at, fresh] = subs_.try_emplace(first->get());
    if (!fresh) return *at->second;
    at->second = std::make_unique<Sub>();
    for (const Tensor* weight : weights) {
      const auto found = *weight ? known_.find(weight->get()) : known_.end();
      if (found != known_.end()) zero::add_once(at->second->shares, found->second);
    }
    const std::string_view name = at->second->shares.front()->parameter->name;
    at->second->path = name.substr(0, std::min(name.rfind('.'), name.size()));
    return *at->second;
  }

  /// Of blocks, which keep nothing where all is trained.
  bool is_hooked() const { return gathered_.empty() && !adapted_.empty(); }

  Sub& block(int layer) {
    Sub& out = blocks_[layer];
    out.is_block = true;
    return out;
  }

  const Sub* last_of_block(Torch& t) const {
    const auto found = last_.find(t.recorder.scope.layer);
    return t.recorder.scope.layer < 0 || found == last_.end() ? nullptr : found->second;
  }

  /// The modules without weights that are called on the way from the last one with some to this one: a layer, its
  /// attention, its MLP; peft's layer around one that it adapts, and its dropout; the rotary tables.
  void gather_ahead_of_modules_above(Torch& t, const Sub& of) {
    const Above last = std::exchange(above_, above(of));
    std::int64_t called = above_.layer < 0 ? 0 : std::ranges::count(above_.path, '.') - last.shared_with(above_);
    if (above_.layer >= 0 && above_.layer != last.layer) ++called;
    const bool recomputes = t.recorder.scope.phase == Phase::backward;
    if (above_.layer >= 0 && last.layer < 0 && !recomputes) ++called;
    if (of.path.ends_with(".lora_A")) ++called;
    for (; called > 0; --called) coordinator_.pass(t);
  }

  Above above(const Sub& of) const {
    const std::int16_t layer = of.shares.front()->parameter->layer();
    std::string_view path = of.path;
    if (!adapted_.contains(path)) path = path.substr(0, path.rfind('.'));
    const std::size_t layers = path.find('*');
    return {layers == path.npos ? std::string_view() : path.substr(layers + 1), layer};
  }

  /// PostBackwardFunctionModule counts the inputs that have no gradient yet, anew with each forward pass: of a module
  /// that is called again ahead of backward (a reference by the policy's own layers) none is the last.
  Tensor after_backward(Torch& t, Sub& of, const Tensor& input) {
    of.grads_remaining = 0;
    NodeRef node = t.record("PostBackwardFunctionModuleBackward", {&input}, [](Torch&, Node& n, Grads& g) {
      const auto& hooked = *static_cast<const Hooked*>(n.module);
      if (--hooked.sub->grads_remaining == 0) hooked.policy->coordinator_.release(*hooked.sub, false);
      g.out[0] = g.in[0];
    });
    if (node) ++of.grads_remaining;
    return hook(t, of, node, input);
  }

  Tensor before_backward(Torch& t, Sub& of, const Tensor& output) {
    NodeRef node = t.record("PreBackwardFunctionForModuleBackward", {&output}, [](Torch& torch, Node& n, Grads& g) {
      const auto& hooked = *static_cast<const Hooked*>(n.module);
      hooked.policy->pre_backward(torch, *hooked.sub);
      g.out[0] = g.in[0];
    });
    return hook(t, of, node, output);
  }

  Tensor hook(Torch& t, Sub& of, const NodeRef& node, const Tensor& x) {
    if (!node) return x;
    auto& hooked = hooked_[&of];
    if (!hooked) hooked = std::make_unique<Hooked>(Hooked{this, &of});
    node->module = hooked.get();
    return t.attach(node, t.view_as(x, x->sizes, x->strides));
  }

  void pre_backward(Torch& t, Sub& of) {
    if (of.is_block) return coordinator_.enter_backward(of);
    if (!of.path.empty()) gather_ahead_of_modules_above(t, of);
    coordinator_.backward(t, of);
  }

  // --- reducing ----------------------------------------------------------------------------------------------------

  /// reduce_scatter_coalesced, unless the bucket is reduced as a whole.
  void reduce_and_partition(Torch& t) {
    if (bucketed_.empty()) return;
    Restore reduces(t.recorder.scope.bucket, Bucket::communication);
    Restore stream(t.recorder.scope.stream, mesh_.zero_overlap.value ? reduce_and_partition_stream : std::uint8_t{0});
    const bool whole =
        mesh_.zero_contiguous.value && !mesh_.zero_reduce_scatter.value && elements_ <= mesh_.zero_reduce_bucket.value;
    const Share& first = *bucketed_.front();
    const bool alone = bucketed_.size() == 1 && saturating_mul(first.partition, ranks_) == first.elements;
    std::int64_t padded = 0;
    for (const Share* share : bucketed_) padded = saturating_add(padded, saturating_mul(share->partition, ranks_));
    const Tensor together = whole || alone ? Tensor() : t.empty({padded}, dtype(), "aten::cat");
    for (const Share* share : bucketed_) partition_gradient(t, *share);
    bucketed_.clear();
    elements_ = 0;
  }

  /// partition_grads: to the host by a copy on the GPU, a norm in double precision and one in fp32.
  void partition_gradient(Torch& t, const Share& share) const {
    if (mesh_.zero_offload_optimizer.value) {
      const Tensor copy = t.empty({share.partition}, dtype(), "aten::_to_copy");
      constexpr std::int64_t buffer_size = 250'000'000;
      if (is_boundary_) {
        t.empty({2, std::min(share.partition, buffer_size)}, DType::fp32, "aten::_to_copy");
        t.to(copy, DType::fp32);
      }
    }
    share.parameter->whole->grad.reset();
  }

  void update(Torch& t, SubGroup& group, const OptimizerFacts& facts) {
    Parameter& master = group.master.front();
    {
      Restore gradients(t.recorder.scope.bucket, Bucket::gradients);
      const Tensor flat =
          group.members.size() == 1 ? grad_partitions_ : t.empty({group.elements}, dtype(), "aten::cat");
      master.held->grad = dtype() == DType::fp32 ? flat : t.empty({group.elements}, DType::fp32, "aten::_to_copy");
    }
    if (!group.optimizer) group.optimizer = make_optimizer(facts.name.value);
    group.optimizer->step(t, group.master);
    master.held->grad.reset();
  }

  struct Hooked {
    Zero3* policy = nullptr;
    Sub* sub = nullptr;
  };

  static constexpr std::size_t wrappers_of_peft = 2;

  const MeshFacts mesh_;
  const std::int64_t ranks_;
  const bool trained_;
  bool is_boundary_ = true;
  std::vector<Share> shares_{};
  zero::Coordinator coordinator_{mesh_, shares_};
  std::unordered_map<const TensorImpl*, Share*> known_{};
  std::vector<Tensor> partitions_{};
  std::vector<Tensor> gathered_{};  ///< All, while modules have no hooks.
  std::vector<SubGroup> groups_{};
  Tensor bucket_{};
  Tensor grad_partitions_{};
  Sub root_{};
  Sub nothing_{};
  std::unordered_map<const TensorImpl*, std::unique_ptr<Sub>> subs_{};
  std::unordered_map<int, Sub> blocks_{};
  std::unordered_map<const Sub*, std::unique_ptr<Hooked>> hooked_{};
  std::unordered_map<std::int16_t, const Sub*> last_{};  ///< Of each block, what it calls last.
  std::set<std::string_view> adapted_{};                 ///< Paths of what is within a layer of peft's.
  Above above_{};
  std::vector<Share*> bucketed_{};
  std::int64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<Policy> zero3(const TrainingPlan& plan, bool trained) { return std::make_unique<Zero3>(plan, trained); }

}  // namespace oomplan::estimator
