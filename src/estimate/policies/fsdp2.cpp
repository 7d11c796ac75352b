// torch.distributed.fsdp.fully_shard on each block and then on the model (torch 2.13: torch/distributed/fsdp/
// _fully_shard: _fsdp_state.py, _fsdp_param_group.py, _fsdp_param.py, _fsdp_collectives.py). Names are theirs. Streams
// are not played: FSDP2 holds references until events are over, so that what is alive does not depend on them.
#include <algorithm>
#include <utility>

#include "oomplan/plan/plan.hpp"
#include "policies/policies.hpp"

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
  bool resharded = true;  ///< reshard_after_forward
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

std::optional<DType> resolved(MixedDType dtype) {
  constexpr std::array<DType, 4> dtypes{DType::fp32, DType::fp32, DType::bf16, DType::fp16};
  if (dtype == MixedDType::as_held) return std::nullopt;
  return dtypes[static_cast<std::size_t>(dtype)];
}

class Fsdp2 final : public Policy {
 public:
  Fsdp2(const MeshFacts& mesh, std::int64_t shard)
      : mesh_(mesh), ranks_(mesh.world_size.value / mesh.fsdp_replicas.value), shard_(shard) {}

  /// _init_sharded_param: a view of a padded chunk. What ops are given has no memory of its own: its unit's is its
  /// memory while it is whole.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    p.held = t.parameter(chunk_of(p.sizes, ranks_), dtype, p.trained);
    p.held->sizes = own_of(p.sizes, ranks_, shard_);
    p.whole = t.parameter({0}, resolved(mesh_.fsdp_param_dtype.value).value_or(dtype), p.trained);
    p.whole->sizes = p.sizes;
    p.whole->strides = contiguous_strides(p.sizes);
  }

  void wrap(Torch&, Parameters& parameters) override {
    const std::optional<DType> reduced = resolved(mesh_.fsdp_reduce_dtype.value);
    for (Parameter& p : parameters) {
      const auto number = static_cast<std::size_t>(p.layer() + 1);
      while (units_.size() <= number) units_.push_back(std::make_unique<Unit>(*this));
      Member& member = units_[number]->members.emplace_back();
      member.parameter = &p;
      if (reduced != p.whole->dtype) member.reduce_dtype = reduced;
    }
    for (const auto& unit : units_) unit->resharded = mesh_.fsdp_reshard.value != Reshard::never;
    // _lazy_init: the root's would be freed and gathered again at once.
    if (mesh_.fsdp_reshard.value == Reshard::automatic) units_.front()->resharded = false;
  }

  void enter_model(Torch& t) override { pre_forward(t, *units_.front()); }

  void leave_model(Torch& t, std::initializer_list<const Tensor*> outputs) override {
    Unit& root = *units_.front();
    post_forward(t, root);
    for (const Tensor* output : outputs) register_pre_backward_hook(t, root, *output);
    all_gather_state_.reset();
  }

  Tensor enter_block(Torch& t, int layer, const Tensor& input) override {
    Unit& unit = block(layer);
    if (unit.state == State::pre_backward) return input;  // Recomputed: gathered before, and resharded behind it.
    pre_forward(t, unit);
    return register_post_backward_hook(t, unit, input);
  }

  Tensor leave_block(Torch& t, int layer, const Tensor& output) override {
    Unit& unit = block(layer);
    if (unit.state == State::pre_backward) return output;
    post_forward(t, unit);
    register_pre_backward_hook(t, unit, output);
    return output;
  }

  void begin(Torch&, bool last) override {
    reduce_grads_ = mesh_.sync_each.value || last;
    reshard_after_backward_ = mesh_.fsdp_reshard_unreduced.value || last;
  }

  /// _root_post_backward_final_callback: the states from the root on.
  void finish(Torch& t) override {
    Restore gathers(t.recorder.scope.bucket, Bucket::communication);
    std::int16_t layer = -1;
    for (const auto& unit : units_) {
      Restore in_layer(t.recorder.scope.layer, std::int16_t{layer++});
      if (unit->state != State::post_backward) post_backward(t, *unit);
      unit->state = State::idle;
      unit->all_reduced.reset();
      unit->gathered.reset();
      unit->gathering = false;
      unit->forwards.clear();
    }
    post_forward_order_.clear();
    reduce_scatter_state_.reset();
  }

  void pre_backward(Torch& t, Unit& unit) {
    if (unit.state == State::pre_backward) return;
    unit.state = State::pre_backward;
    unshard(t, unit);
    wait_for_unshard(t, unit);
    prefetch(t, unit);
  }

 private:
  Unit& block(int layer) { return *units_[static_cast<std::size_t>(layer) + 1]; }

  void pre_forward(Torch& t, Unit& unit) {
    unit.state = State::forward;
    unshard(t, unit);
    wait_for_unshard(t, unit);
  }

  void post_forward(Torch& t, Unit& unit) {
    reshard(t, unit);
    unit.forwards.push_back(post_forward_order_.size());
    post_forward_order_.push_back(&unit);
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
    if (unit.gathering || unit.whole) return;
    unit.gathering = true;
    if (ranks_ > 1) foreach_all_gather(t, unit);
  }

  /// The inputs that are cast are copied into one tensor, which Python's names keep until the function returns.
  void foreach_all_gather(Torch& t, Unit& unit) {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    std::int64_t all = 0;
    std::int64_t cast = 0;
    DType dtype = unit.members.front().parameter->whole->dtype;
    for (const Member& m : unit.members) {
      const std::int64_t elements = gathered_elements(m);
      if (m.parameter->whole->dtype != dtype) dtype = DType::uint8;
      all = saturating_add(all, saturating_mul(elements, bytes_of(m.parameter->whole->dtype)));
      if (m.casts()) cast = saturating_add(cast, padded_elements(m));
    }
    const DType cast_to = resolved(mesh_.fsdp_param_dtype.value).value_or(dtype);
    const Tensor input = cast > 0 ? t.empty({cast}, cast_to, "fsdp::foreach_copy") : Tensor();
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

  static void register_pre_backward_hook(const Torch& t, Unit& unit, const Tensor& output) {
    if (t.grad_enabled && output && output->grad_fn) output->grad_fn->hook = &unit;
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
    for (const Member* m : members) view_out(t, *m->parameter, reduced);
  }

  static void view_out(Torch& t, const Parameter& p, const Tensor& reduced) {
    if (p.held->grad) return;  // Added in place.
    t.recorder.at(reduced->storage).bucket = Bucket::gradients;
    p.held->grad = t.on_storage(reduced->storage, p.held->sizes, p.held->strides, p.held->dtype);
  }

  const MeshFacts mesh_;
  const std::int64_t ranks_;
  const std::int64_t shard_;
  bool reduce_grads_ = true;
  bool reshard_after_backward_ = true;
  std::vector<std::unique_ptr<Unit>> units_{};  ///< The root's, then the blocks'.
  std::vector<Unit*> post_forward_order_{};
  Tensor all_gather_state_{};
  Tensor reduce_scatter_state_{};
};

void Unit::before(Torch& t) { fsdp.pre_backward(t, *this); }

}  // namespace

std::unique_ptr<Policy> fsdp2(const MeshFacts& mesh, std::int64_t shard) {
  return std::make_unique<Fsdp2>(mesh, shard);
}

}  // namespace oomplan::estimator
