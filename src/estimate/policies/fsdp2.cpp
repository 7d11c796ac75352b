// torch.distributed.fsdp.fully_shard on units of a model, and then on the model (torch 2.13: torch/distributed/fsdp/
// _fully_shard: _fsdp_state.py, _fsdp_param_group.py, _fsdp_param.py, _fsdp_collectives.py). Names are theirs. Streams
// are not played: FSDP2 holds references until events are over, so that what is alive does not depend on them.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "oomplan/plan/plan.hpp"
#include "policies/mixed_dtype.hpp"
#include "policies/policies.hpp"
#include "policies/units.hpp"

namespace oomplan::estimator {
namespace {

enum class State : std::uint8_t { idle, forward, pre_backward, post_backward };

/// FSDPParam.
struct Member {
  Parameter* parameter = nullptr;
  std::optional<DType> reduce_dtype{};  ///< Where its gradients have to be cast.
  Tensor output{};                      ///< all_gather_outputs: the parameter's memory while it is whole.
  Tensor smaller{};                     ///< _sharded_post_forward_param_data
  Tensor accumulated{};                 ///< unsharded_accumulated_grad

  bool casts() const { return parameter->whole->dtype != parameter->held->dtype; }
};

class Fsdp2;

/// FSDPParamGroup and the FSDPState that it belongs to. Its hook is on what the module returns.
struct Unit final : NodeHook {
  explicit Unit(Fsdp2& owner) : fsdp(owner) {}
  void before(Torch& t) override;

  Fsdp2& fsdp;
  std::vector<Member> members{};
  unsigned modules_to_run = 0;  ///< _modules_to_run_forward, of a unit of several modules, by Site.
  bool resharded = true;        ///< reshard_after_forward
  State state = State::idle;
  bool whole = false;
  bool gathering = false;               ///< Gathered, and not copied out yet.
  Tensor gathered{};                    ///< _all_gather_result
  Tensor all_reduced{};                 ///< _all_reduce_state
  std::vector<std::size_t> forwards{};  ///< _post_forward_indices
};

/// Dimension 0 in chunks, the last ones padded. Rank 0 has one without padding.
Dims chunk_of(Dims sizes, std::int64_t ranks) {
  if (sizes.size() > 0) sizes[0] = divided_up(sizes[0], ranks);
  return sizes;
}

/// What of a parameter a shard's chunk holds, without its padding.
Dims own_of(Dims sizes, std::int64_t ranks, std::int64_t shard) {
  if (sizes.size() == 0) return sizes;
  const std::int64_t chunk = divided_up(sizes[0], ranks);
  sizes[0] = std::clamp<std::int64_t>(sizes[0] - saturating_mul(shard, chunk), 0, chunk);
  return sizes;
}

class Fsdp2 final : public Policy, NodeHook {
 public:
  /// `whole`: a model that is one unit, and is not trained (trl/models/utils.py: prepare_fsdp).
  Fsdp2(const MeshFacts& mesh, std::int64_t shard, bool whole)
      : mesh_(mesh), ranks_(mesh.world_size.value / mesh.fsdp_replicas.value), shard_(shard), one_unit_(whole) {}

  /// _init_sharded_param: a view of a padded chunk. What ops are given has no memory of its own: its unit's is its
  /// memory while it is whole.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    if (p.trained && mesh_.fsdp_fp32_trained.value && !one_unit_) dtype = DType::fp32;
    const bool later = mesh_.fsdp_loads_whole.value && !one_unit_;
    const Tensor loaded = later ? t.parameter(p.sizes, dtype, false) : Tensor();
    p.held = t.parameter(later || mesh_.fsdp_offload.value ? Dims{0} : chunk_of(p.sizes, ranks_), dtype, p.trained);
    if (later) loaded_.emplace(p.held.get(), loaded);
    p.held->sizes = own_of(p.sizes, ranks_, shard_);
    p.whole = t.parameter({0}, resolved(mesh_.fsdp_param_dtype.value).value_or(dtype), p.trained);
    p.whole->sizes = p.sizes;
    p.whole->strides = contiguous_strides(p.sizes);
  }

  void wrap(Torch& t, Parameters& parameters) override {
    if (!loaded_.empty()) shard_loaded(t, parameters);
    const std::optional<DType> reduced = resolved(mesh_.fsdp_reduce_dtype.value);
    places_ = one_unit_ ? one_unit(parameters) : units_of(parameters, mesh_.fsdp_units.value, mesh_.fsdp_modules.value);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Parameter& p = parameters[i];
      if (p.whole.get() == p.held.get()) continue;  // None of FSDP's: ignored_params.
      Member& member = unit(places_.of_parameter[i]).members.emplace_back();
      member.parameter = &p;
      if (reduced != p.whole->dtype) member.reduce_dtype = reduced;
      const bool of_block = places_.of_parameter[i] == static_cast<std::size_t>(p.layer() + 1);
      if (p.part == Part::adapter && !of_block && !one_unit_) alone_[p.whole.get()] = places_.of_parameter[i];
    }
    for (const std::size_t number : places_.order) unit(number).resharded = mesh_.fsdp_reshard.value != Reshard::never;
    const bool tail_too = mesh_.fsdp_units.value == ShardUnits::torchtitan && mesh_.fsdp_reshard.value == Reshard::all;
    if (places_.tail != 0 && !tail_too) unit(places_.tail).resharded = false;
    // _lazy_init: the root's would be freed and gathered again at once. accelerate leaves it to that.
    const bool said = mesh_.fsdp_reshard.value != Reshard::automatic && places_.tail == 0;
    if (!said && !one_unit_) root().resharded = false;
  }

  void enter_model(Torch& t) override {
    in_model_ = true;
    pre_forward(t, root());
  }

  /// transformers 5.23 checkpoints a layer's forward function (modeling_layers.py: GradientCheckpointingLayer).
  /// torchtitan shards what checkpoint_wrapper has made of a block.
  bool stands_around_checkpoints(bool reentrant) const override {
    return reentrant || mesh_.fsdp_units.value == ShardUnits::torchtitan;
  }

  void leave_model(Torch& t, std::initializer_list<Tensor*> outputs) override {
    post_forward(t, root());
    for (Tensor* output : outputs) register_pre_backward_hook(t, *this, *output);
    // _force_complete_incomplete_states: not all modules of a unit ran.
    completes_tail_ = places_.tail != 0 && std::exchange(unit(places_.tail).modules_to_run, 0) != 0;
    if (completes_tail_) post_forward(t, unit(places_.tail));
    all_gather_state_.reset();
    in_model_ = false;
    for (Tensor* output : outputs) *output = as_output(t, *output);
  }

  Tensor enter_block(Torch& t, int layer, const Tensor& input) override {
    if (one_unit_) return input;
    Unit& of = unit(static_cast<std::size_t>(layer) + 1);
    const Tensor cast = as_input(t, input);
    if (of.state == State::pre_backward) return cast;  // Recomputed: gathered before, and resharded behind it.
    pre_forward(t, of);
    return register_post_backward_hook(t, of, cast);
  }

  Tensor leave_block(Torch& t, int layer, const Tensor& output) override {
    return one_unit_ ? output : left(t, unit(static_cast<std::size_t>(layer) + 1), output);
  }

  Tensor enter_module(Torch& t, Site site, const Tensor& input) override {
    const std::size_t number = places_.at(site);
    if (number == 0) return input;
    Unit& of = unit(number);
    if (of.modules_to_run == 0) of.modules_to_run = modules_of(number);
    const bool first = of.state != State::forward;
    const Tensor cast = as_input(t, input);
    pre_forward(t, of);
    return first ? register_post_backward_hook(t, of, cast) : cast;
  }

  Tensor leave_module(Torch& t, Site site, const Tensor& output) override {
    const std::size_t number = places_.at(site);
    if (number == 0) return output;
    Unit& of = unit(number);
    of.modules_to_run &= ~bit(site);
    const Tensor out = of.modules_to_run == 0 ? left(t, of, output) : as_output(t, output);
    if (!in_model_) all_gather_state_.reset();  // Called by itself, it is the root (_post_forward).
    return out;
  }

  /// LoRA's matrices that are units. The exception that ends a block's recomputation leaves the last of them as it is.
  Tensor enter_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& input) override {
    Unit* of = alone(weights);
    if (of == nullptr || t.recorder.muted()) return input;
    const Tensor cast = as_input(t, input);
    if (of->state == State::pre_backward) return cast;
    pre_forward(t, *of);
    return register_post_backward_hook(t, *of, cast);
  }

  Tensor leave_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& output) override {
    Unit* of = alone(weights);
    return of == nullptr || t.recorder.muted() ? output : left(t, *of, output);
  }

  /// trl/trainer/utils.py: what is sharded is a DTensor, of which full_tensor() is asked. peft asks for a type alone.
  Tensor read_weight(Torch& t, const Tensor& whole) override {
    for (const auto& of : units_) {
      for (const Member& m : of->members) {
        if (m.parameter->whole.get() != whole.get() || of->whole) continue;
        return alone_.contains(whole.get()) ? m.parameter->held : full_tensor(t, *m.parameter);
      }
    }
    return whole;
  }

  /// FSDPModule.unshard(): no forward hook gathers it, and none frees it before backward is over.
  void unshard(Torch& t, const Tensor& whole) override {
    if (mesh_.fsdp_units.value != ShardUnits::adapters) return;
    for (const auto& of : units_) {
      for (const Member& m : of->members) {
        if (m.parameter->whole.get() != whole.get()) continue;
        unshard(t, *of);
        return wait_for_unshard(t, *of);
      }
    }
  }

  void begin(Torch&, bool last) override {
    reduce_grads_ = mesh_.sync_each.value || last;
    reshard_after_backward_ = mesh_.fsdp_reshard_unreduced.value || last;
  }

  /// _root_post_backward_final_callback: the states from the root on.
  void finish(Torch& t) override {
    Restore gathers(t.recorder.scope.bucket, Bucket::communication);
    for (const std::size_t number : places_.order) {
      const auto& unit = units_[number];
      Restore in_layer(t.recorder.scope.layer, layer_of(*unit));
      if (unit->state != State::post_backward) post_backward(t, *unit);
      unit->state = State::idle;
      unit->all_reduced.reset();
      unit->gathered.reset();
      unit->gathering = false;
      unit->forwards.clear();
      unit->modules_to_run = 0;
    }
    post_forward_order_.clear();
    reduce_scatter_state_.reset();
  }

  /// The hooks on what the model returns: the root's, and then that of a unit whose forward it completed.
  void before(Torch& t) override {
    pre_backward(t, root());
    if (completes_tail_) pre_backward(t, unit(places_.tail));
  }

  void pre_backward(Torch& t, Unit& unit) {
    if (unit.state == State::pre_backward) return;
    unit.state = State::pre_backward;
    unshard(t, unit);
    wait_for_unshard(t, unit);
    prefetch(t, unit);
  }

 private:
  /// _init_sharded_param of what was loaded whole, parameter after parameter: LoRA's matrices first, then the blocks,
  /// and last all that is left. fully_shard has a list of the unit's parameters, which lives until it returns.
  void shard_loaded(Torch& t, Parameters& parameters) {
    std::vector<Tensor> of_unit;
    std::int16_t last = -1;
    for (const auto is_next :
         {+[](const Parameter& p) { return p.part == Part::adapter; },
          +[](const Parameter& p) { return p.layer() >= 0; }, +[](const Parameter&) { return true; }}) {
      for (Parameter& p : parameters) {
        const auto loaded = is_next(p) ? loaded_.find(p.held.get()) : loaded_.end();
        if (loaded == loaded_.end()) continue;
        if (p.layer() != last || p.part == Part::adapter) of_unit.clear();
        last = p.layer();
        shard_loaded(t, p);
        of_unit.push_back(std::move(loaded->second));
        loaded_.erase(loaded);
      }
      of_unit.clear();
    }
  }

  void shard_loaded(Torch& t, Parameter& p) const {
    Restore layer(t.recorder.scope.layer, p.held->layer);
    Restore module(t.recorder.scope.module, p.held->module);
    const Tensor chunk = t.parameter(chunk_of(p.sizes, ranks_), p.held->dtype, p.trained);
    std::swap(p.held->storage, chunk->storage);
    p.held->strides = chunk->strides;
  }

  Unit& root() { return unit(0); }

  Unit& unit(std::size_t number) {
    while (units_.size() <= number) units_.push_back(std::make_unique<Unit>(*this));
    return *units_[number];
  }

  /// The unit of a module whose one weight is a unit by itself, or null.
  Unit* alone(std::initializer_list<const Tensor*> weights) {
    const auto found = alone_.find((*weights.begin())->get());
    return found == alone_.end() ? nullptr : &unit(found->second);
  }

  static std::int16_t layer_of(const Unit& unit) {
    return unit.members.empty() ? std::int16_t{-1} : unit.members.front().parameter->layer();
  }

  static unsigned bit(Site site) { return 1U << static_cast<unsigned>(site); }

  unsigned modules_of(std::size_t number) const {
    unsigned out = 0;
    for (const Site site : {Site::embedding, Site::norm, Site::head}) {
      if (places_.at(site) == number) out |= bit(site);
    }
    return out;
  }

  Tensor left(Torch& t, Unit& of, Tensor output) {
    if (of.state == State::pre_backward) return as_output(t, output);
    post_forward(t, of);
    register_pre_backward_hook(t, of, output);
    return as_output(t, output);
  }

  /// _cast_forward_inputs
  Tensor as_input(Torch& t, const Tensor& input) const {
    const auto dtype = resolved(mesh_.fsdp_param_dtype.value);
    return dtype && is_floating(input->dtype) ? t.to(input, *dtype) : input;
  }

  /// _cast_output_dtype
  Tensor as_output(Torch& t, const Tensor& output) const {
    const auto dtype = resolved(mesh_.fsdp_output_dtype.value);
    return dtype && output && is_floating(output->dtype) ? t.to(output, *dtype) : output;
  }

  /// DTensor.full_tensor(): an all-gather of padded chunks.
  Tensor full_tensor(Torch& t, const Parameter& p) const {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    if (ranks_ == 1) return t.on_storage(p.held->storage, p.sizes, contiguous_strides(p.sizes), p.held->dtype);
    Dims sizes = chunk_of(p.sizes, ranks_);
    sizes[0] = saturating_mul(sizes[0], ranks_);
    const Tensor all = t.empty(sizes, p.held->dtype, "_c10d_functional::all_gather_into_tensor");
    return t.on_storage(all->storage, p.sizes, contiguous_strides(p.sizes), p.held->dtype);
  }

  void pre_forward(Torch& t, Unit& unit) {
    unit.state = State::forward;
    unshard(t, unit);
    wait_for_unshard(t, unit);
  }

  /// What runs again in backward stays whole, and has no place in the order: each unit is a root by itself there, as
  /// the first that runs is (_root_pre_forward).
  void post_forward(Torch& t, Unit& unit) {
    const bool again = t.recorder.scope.phase == Phase::backward;
    if (again) all_gather_state_.reset();
    if (!again && !unit.members.empty()) {
      reshard(t, unit);
      unit.forwards.push_back(post_forward_order_.size());
      post_forward_order_.push_back(&unit);
    }
    unit.state = State::idle;
  }

  // --- gathering ---------------------------------------------------------------------------------------------------

  /// What a rank gives: its chunk with its padding, or the larger one that it kept from forward.
  std::int64_t padded_elements(const Member& m) const {
    return m.smaller ? m.smaller->numel() : chunk_of(m.parameter->sizes, ranks_).product();
  }

  std::int64_t gathered_elements(const Member& m) const {
    return saturating_mul(padded_elements(m), m.smaller ? mesh_.fsdp_reshard_ranks.value : ranks_);
  }

  void unshard(Torch& t, Unit& unit) {
    if (unit.gathering || unit.whole || unit.members.empty()) return;
    unit.gathering = true;
    if (ranks_ > 1) foreach_all_gather(t, unit);
  }

  /// Of what is on the host, each is copied and cast by itself.
  std::vector<Tensor> moved_inputs(Torch& t, const Unit& unit) const {
    std::vector<Tensor> out;
    for (const Member& m : unit.members) {
      const Tensor moved = t.empty({padded_elements(m)}, m.parameter->held->dtype, "aten::_to_copy");
      out.push_back(t.to(moved, m.parameter->whole->dtype));
    }
    return out;
  }

  /// The inputs that are cast are copied into one tensor, which Python's names keep until the function returns.
  void foreach_all_gather(Torch& t, Unit& unit) {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    std::int64_t all = 0;
    std::int64_t cast = 0;
    DType dtype = unit.members.front().parameter->whole->dtype;
    for (const Member& m : unit.members) {
      const std::int64_t times = one_unit_ ? m.parameter->layers : 1;  // Of which one layer alone may be played.
      const std::int64_t elements = saturating_mul(gathered_elements(m), times);
      if (m.parameter->whole->dtype != dtype) dtype = DType::uint8;
      all = saturating_add(all, saturating_mul(elements, bytes_of(m.parameter->whole->dtype)));
      if (m.casts()) cast = saturating_add(cast, saturating_mul(padded_elements(m), times));
    }
    const DType cast_to = resolved(mesh_.fsdp_param_dtype.value).value_or(dtype);
    const bool moved = mesh_.fsdp_offload.value;
    const std::vector<Tensor> inputs = moved ? moved_inputs(t, unit) : std::vector<Tensor>();
    const Tensor input = cast > 0 && !moved ? t.empty({cast}, cast_to, "fsdp::foreach_copy") : Tensor();
    unit.gathered = t.empty({all / bytes_of(dtype)}, dtype, "fsdp::all_gather");
  }

  /// In forward the result is kept until the next unit has copied its own out.
  void wait_for_unshard(Torch& t, Unit& unit) {
    if (!unit.gathering) return;
    Tensor previous;
    if (unit.state == State::forward) previous = std::exchange(all_gather_state_, {});
    copy_out(t, unit);
    unit.whole = true;
    unit.gathering = false;
    if (unit.state == State::forward) {
      all_gather_state_ = std::move(unit.gathered);
    } else {
      unit.gathered.reset();
    }
  }

  void copy_out(Torch& t, Unit& unit) {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    Tensor input;  // Of a world of one: cast, and copied.
    for (Member& m : unit.members) {
      Restore in_layer(t.recorder.scope.layer, std::int16_t{m.parameter->layer()});
      const DType dtype = m.parameter->whole->dtype;
      if (ranks_ == 1 && m.casts()) input = t.empty({padded_elements(m)}, dtype, "aten::_to_copy");
      m.output = t.empty({gathered_elements(m)}, dtype, "fsdp::split_with_sizes_copy");
    }
    for (Member& m : unit.members) m.smaller.reset();
  }

  void reshard(Torch& t, Unit& unit) {
    if (!unit.whole) return;
    if (unit.state == State::forward) {
      if (!unit.resharded) return;
      if (mesh_.fsdp_reshard.value == Reshard::smaller) return to_sharded_post_forward(t, unit);
    }
    to_sharded(unit);
  }

  static void to_sharded(Unit& unit) {
    for (Member& m : unit.members) m.output.reset();
    unit.whole = false;
  }

  void to_sharded_post_forward(Torch& t, Unit& unit) {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    for (Member& m : unit.members) {
      m.smaller = t.empty({m.output->numel() / mesh_.fsdp_reshard_ranks.value}, m.output->dtype, "aten::clone");
      m.output.reset();
    }
    unit.whole = false;
  }

  void prefetch(Torch& t, Unit& unit) {
    if (unit.forwards.empty()) return;
    const std::size_t index = unit.forwards.back();
    unit.forwards.pop_back();
    if (index > 0) unshard(t, *post_forward_order_[index - 1]);
  }

  // --- hooks -------------------------------------------------------------------------------------------------------

  /// Tensor.register_hook, of which a node here has one: what is no node's, or has a hook, goes through one more.
  static void register_pre_backward_hook(Torch& t, NodeHook& hook, Tensor& output) {
    if (!t.grad_enabled || !output || !output->requires_grad) return;
    if (!output->grad_fn || output->grad_fn->hook != nullptr) {
      const NodeRef node = t.record("hook", {&output}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
      output = t.attach(node, t.view_as(output, output->sizes, output->strides));
    }
    output->grad_fn->hook = &hook;
  }

  /// RegisterPostBackwardFunction: the input comes back as a view of itself.
  static Tensor register_post_backward_hook(Torch& t, Unit& unit, const Tensor& input) {
    NodeRef node = t.record("RegisterPostBackwardFunctionBackward", {&input}, [](Torch& torch, Node& n, Grads& g) {
      auto& of = *static_cast<Unit*>(const_cast<void*>(n.module));
      of.fsdp.post_backward(torch, of);
      g.out[0] = g.in[0];
    });
    if (!node) return input;
    node->module = &unit;
    return t.attach(node, t.view_as(input, input->sizes, input->strides));
  }

  // --- reducing ----------------------------------------------------------------------------------------------------

  void post_backward(Torch& t, Unit& unit) {
    unit.state = State::post_backward;
    if (unit.members.empty()) return;
    for (Member& m : unit.members) {
      if (m.accumulated) m.parameter->whole->grad.reset();  // Added in place.
    }
    if (!reduce_grads_) {
      if (reshard_after_backward_) reshard(t, unit);
      for (Member& m : unit.members) accumulate(t, m);
      return;
    }
    std::vector<Member*> members;
    std::vector<Tensor> gradients;
    for (Member& m : unit.members) {
      Tensor& gradient = m.accumulated ? m.accumulated : m.parameter->whole->grad;
      if (!gradient) continue;
      members.push_back(&m);
      gradients.push_back(std::exchange(gradient, {}));
    }
    if (reshard_after_backward_) reshard(t, unit);
    reduce_scatter_state_.reset();
    if (members.empty()) return;
    unit.all_reduced.reset();
    foreach_reduce(t, unit, members, std::move(gradients));
  }

  /// to_accumulated_grad_if_needed
  static void accumulate(Torch& t, Member& m) {
    Tensor& gradient = m.parameter->whole->grad;
    if (!m.reduce_dtype || !gradient || gradient->dtype == *m.reduce_dtype) return;
    const Tensor old = std::exchange(gradient, {});
    m.accumulated = t.empty(old->sizes, *m.reduce_dtype, "aten::_to_copy");
    t.recorder.at(m.accumulated->storage).bucket = Bucket::gradients;
  }

  /// The last gradient lives as long as the function: it is a loop's variable there.
  void foreach_reduce(Torch& t, Unit& unit, const std::vector<Member*>& members, std::vector<Tensor> gradients) {
    Restore reduces(t.recorder.scope.bucket, Bucket::communication);
    const Tensor last = ranks_ > 1 ? gradients.back() : Tensor();
    const DType held = members.front()->parameter->held->dtype;
    const DType dtype = members.front()->reduce_dtype.value_or(gradients.front()->dtype);
    std::int64_t shards = 0;
    for (const Member* m : members) shards = saturating_add(shards, chunk_of(m->parameter->sizes, ranks_).product());
    reduce_scatter_state_ = t.empty({saturating_mul(shards, ranks_)}, dtype, "fsdp::reduce_scatter_input");
    gradients.clear();
    Tensor reduced = t.empty({shards}, dtype, "fsdp::reduce_scatter_output");
    if (mesh_.fsdp_replicas.value > 1) unit.all_reduced = reduced;
    if (dtype != held) reduced = t.empty({shards}, held, "aten::_to_copy");
    if (mesh_.fsdp_offload.value) return;
    for (const Member* m : members) {
      view_out(t, *m->parameter, reduced);
      if (t.gradient_hook != nullptr) t.gradient_hook->accumulated(t, m->parameter->held);
    }
  }

  static void view_out(Torch& t, const Parameter& p, const Tensor& reduced) {
    if (p.held->grad) return;  // Added in place.
    t.recorder.at(reduced->storage).bucket = Bucket::gradients;
    p.held->grad = t.on_storage(reduced->storage, p.held->sizes, p.held->strides, p.held->dtype);
  }

  const MeshFacts mesh_;
  const std::int64_t ranks_;
  const std::int64_t shard_;
  const bool one_unit_;
  Units places_{};
  bool in_model_ = false;        ///< The model's own forward function runs.
  bool completes_tail_ = false;  ///< The last forward's hooks are the tail's too.
  bool reduce_grads_ = true;
  bool reshard_after_backward_ = true;
  std::vector<std::unique_ptr<Unit>> units_{};                  ///< As Units numbers them.
  std::unordered_map<const TensorImpl*, std::size_t> alone_{};  ///< Units of one of LoRA's matrices, by what is whole.
  std::unordered_map<const TensorImpl*, Tensor> loaded_{};      ///< What is whole yet, by what will be held of it.
  std::vector<Unit*> post_forward_order_{};
  Tensor all_gather_state_{};
  Tensor reduce_scatter_state_{};
};

void Unit::before(Torch& t) { fsdp.pre_backward(t, *this); }

}  // namespace

std::unique_ptr<Policy> fsdp2(const MeshFacts& mesh, std::int64_t shard) {
  return std::make_unique<Fsdp2>(mesh, shard, false);
}

std::unique_ptr<Policy> fsdp2_as_one(const MeshFacts& mesh, std::int64_t shard) {
  return std::make_unique<Fsdp2>(mesh, shard, true);
}

}  // namespace oomplan::estimator
