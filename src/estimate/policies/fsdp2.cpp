// torch.distributed.fsdp.fully_shard on units of a model, and then on the model (torch 2.13: torch/distributed/fsdp/
// _fully_shard: _fully_shard.py, _fsdp_state.py). Names are theirs. Streams are not played: FSDP2 holds references
// until events are over, so that what is alive does not depend on them.
#include <unordered_map>
#include <utility>

#include "oomplan/plan/plan.hpp"
#include "policies/fsdp2_groups.hpp"
#include "policies/mixed_dtype.hpp"
#include "policies/policies.hpp"
#include "policies/units.hpp"

namespace oomplan::estimator {
namespace {

using Unit = Fsdp2Group;

class Fsdp2 final : public Policy, NodeHook {
 public:
  /// `whole`: a model that is one unit, and is not trained (trl/models/utils.py: prepare_fsdp).
  Fsdp2(const MeshFacts& mesh, std::int64_t shard, bool whole)
      : mesh_(mesh), shard_(shard), one_unit_(whole), groups_(mesh, whole) {}

  /// _init_sharded_param: a view of a padded chunk. What ops are given has no memory of its own: its unit's is its
  /// memory while it is whole.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    if (p.trained && mesh_.fsdp_fp32_trained.value && !one_unit_) dtype = DType::fp32;
    const bool later = mesh_.fsdp_loads_whole.value && !one_unit_;
    const Tensor loaded = later ? t.parameter(p.sizes, dtype, false) : Tensor();
    p.held = t.parameter(later || mesh_.fsdp_offload.value ? Dims{0} : groups_.chunk_of(p.sizes), dtype, p.trained);
    if (later) loaded_.emplace(p.held.get(), loaded);
    p.held->sizes = groups_.own_of(p.sizes, shard_);
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
      Fsdp2Parameter& member = unit(places_.of_parameter[i]).members.emplace_back();
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
    groups_.pre_forward(t, root());
  }

  Tensor enter_stage(Torch& t, const Tensor& input) override {
    in_model_ = true;
    const Tensor cast = as_input(t, input);
    groups_.pre_forward(t, root());
    return register_post_backward_hook(t, root(), cast);
  }

  /// transformers 5.23 checkpoints a layer's forward function (modeling_layers.py: GradientCheckpointingLayer).
  /// torchtitan shards what checkpoint_wrapper has made of a block.
  bool stands_around_checkpoints(bool reentrant) const override {
    return reentrant || mesh_.fsdp_units.value == ShardUnits::torchtitan;
  }

  void leave_model(Torch& t, std::initializer_list<Tensor*> outputs) override {
    groups_.post_forward(t, root());
    for (Tensor* output : outputs) register_pre_backward_hook(t, *this, *output);
    // _force_complete_incomplete_states: not all modules of a unit ran.
    completes_tail_ = places_.tail != 0 && std::exchange(unit(places_.tail).modules_to_run, 0) != 0;
    if (completes_tail_) groups_.post_forward(t, unit(places_.tail));
    groups_.end_forward();
    in_model_ = false;
    for (Tensor* output : outputs) *output = as_output(t, *output);
  }

  Tensor enter_block(Torch& t, int layer, const Tensor& input) override {
    if (one_unit_) return input;
    Unit& of = unit(static_cast<std::size_t>(layer) + 1);
    const Tensor cast = as_input(t, input);
    if (of.state == Unit::State::pre_backward) return cast;  // Recomputed: gathered before, and resharded behind it.
    groups_.pre_forward(t, of);
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
    const bool first = of.state != Unit::State::forward;
    const Tensor cast = as_input(t, input);
    groups_.pre_forward(t, of);
    return first ? register_post_backward_hook(t, of, cast) : cast;
  }

  Tensor leave_module(Torch& t, Site site, const Tensor& output) override {
    const std::size_t number = places_.at(site);
    if (number == 0) return output;
    Unit& of = unit(number);
    of.modules_to_run &= ~bit(site);
    const Tensor out = of.modules_to_run == 0 ? left(t, of, output) : as_output(t, output);
    if (!in_model_) groups_.end_forward();  // Called by itself, it is the root (_post_forward).
    return out;
  }

  /// LoRA's matrices that are units. The exception that ends a block's recomputation leaves the last of them as it is.
  Tensor enter_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& input) override {
    Unit* of = alone(weights);
    if (of == nullptr || t.recorder.muted()) return input;
    const Tensor cast = as_input(t, input);
    if (of->state == Unit::State::pre_backward) return cast;
    groups_.pre_forward(t, *of);
    return register_post_backward_hook(t, *of, cast);
  }

  Tensor leave_leaf(Torch& t, std::initializer_list<const Tensor*> weights, const Tensor& output) override {
    Unit* of = alone(weights);
    return of == nullptr || t.recorder.muted() ? output : left(t, *of, output);
  }

  /// trl/trainer/utils.py: what is sharded is a DTensor, of which full_tensor() is asked. peft asks for a type alone.
  Tensor read_weight(Torch& t, const Tensor& whole) override {
    for (const auto& of : units_) {
      for (const Fsdp2Parameter& m : of->members) {
        if (m.parameter->whole.get() != whole.get() || of->whole) continue;
        return alone_.contains(whole.get()) ? m.parameter->held : groups_.full_tensor(t, *m.parameter);
      }
    }
    return whole;
  }

  /// FSDPModule.unshard(): no forward hook gathers it, and none frees it before backward is over.
  void unshard(Torch& t, const Tensor& whole) override {
    if (mesh_.fsdp_units.value != ShardUnits::adapters) return;
    for (const auto& of : units_) {
      for (const Fsdp2Parameter& m : of->members) {
        if (m.parameter->whole.get() != whole.get()) continue;
        return groups_.unshard_now(t, *of);
      }
    }
  }

  void begin(Torch&, bool last) override { groups_.begin(last); }

  /// _root_post_backward_final_callback: the states from the root on.
  void finish(Torch& t) override {
    Restore gathers(t.recorder.scope.bucket, Bucket::communication);
    for (const std::size_t number : places_.order) groups_.finish(t, *units_[number]);
    groups_.finish();
  }

  /// torch/distributed/pipelining/stage.py: perform_reduce_grad
  void reduce(Torch& t) override {
    groups_.begin_reduction();
    for (const std::size_t number : places_.order) groups_.reduce(t, *units_[number]);
    finish(t);
  }

  Tensor gathered(Torch& t, const Parameter& p) override {
    return p.whole.get() == p.held.get() ? Tensor() : groups_.full_tensor(t, p);
  }

  void unshard_all(Torch& t) override {
    for (const std::size_t number : places_.order) groups_.gather(t, *units_[number]);
  }

  void reshard_all(Torch&) override {
    for (const std::size_t number : places_.order) groups_.give_back(*units_[number]);
  }

  /// The hooks on what the model returns: the root's, and then that of a unit whose forward it completed.
  void before(Torch& t) override {
    groups_.pre_backward(t, root());
    if (completes_tail_) groups_.pre_backward(t, unit(places_.tail));
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
    const Tensor chunk = t.parameter(groups_.chunk_of(p.sizes), p.held->dtype, p.trained);
    std::swap(p.held->storage, chunk->storage);
    p.held->strides = chunk->strides;
  }

  Unit& root() { return unit(0); }

  Unit& unit(std::size_t number) {
    while (units_.size() <= number) units_.push_back(std::make_unique<Unit>(groups_));
    return *units_[number];
  }

  /// The unit of a module whose one weight is a unit by itself, or null.
  Unit* alone(std::initializer_list<const Tensor*> weights) {
    const auto found = alone_.find((*weights.begin())->get());
    return found == alone_.end() ? nullptr : &unit(found->second);
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
    if (of.state == Unit::State::pre_backward) return as_output(t, output);
    groups_.post_forward(t, of);
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
      of.groups.post_backward(torch, of);
      g.out[0] = g.in[0];
    });
    if (!node) return input;
    node->module = &unit;
    return t.attach(node, t.view_as(input, input->sizes, input->strides));
  }

  const MeshFacts mesh_;
  const std::int64_t shard_;
  const bool one_unit_;
  Fsdp2Groups groups_;
  Units places_{};
  bool in_model_ = false;                                       ///< The model's own forward function runs.
  bool completes_tail_ = false;                                 ///< The last forward's hooks are the tail's too.
  std::vector<std::unique_ptr<Unit>> units_{};                  ///< As Units numbers them.
  std::unordered_map<const TensorImpl*, std::size_t> alone_{};  ///< Units of one of LoRA's matrices, by what is whole.
  std::unordered_map<const TensorImpl*, Tensor> loaded_{};      ///< What is whole yet, by what will be held of it.
};

}  // namespace

std::unique_ptr<Policy> fsdp2(const MeshFacts& mesh, std::int64_t shard) {
  return std::make_unique<Fsdp2>(mesh, shard, false);
}

std::unique_ptr<Policy> fsdp2_as_one(const MeshFacts& mesh, std::int64_t shard) {
  return std::make_unique<Fsdp2>(mesh, shard, true);
}

}  // namespace oomplan::estimator
