// torch.distributed.fsdp.FullyShardedDataParallel around each block and around the model (torch 2.13: torch/
// distributed/fsdp/_runtime_utils.py, _flat_param.py). Names are theirs. One stream is played: what record_stream keeps
// longer on a GPU is not counted.
#include <algorithm>
#include <numeric>
#include <utility>

#include "oomplan/plan/plan.hpp"
#include "policies/mixed_dtype.hpp"
#include "policies/policies.hpp"

namespace oomplan::estimator {
namespace {

enum class State : std::uint8_t { idle, forward, backward_pre, backward_post };

class Fsdp1;

/// FlatParamHandle: parameters that are one, all trained or all frozen; with original parameters, where the policy
/// wraps blocks alone, an adapter's weights are among its block's.
struct Handle {
  std::vector<Parameter*> members{};
  Tensor shard{};           ///< _local_shard
  Tensor output{};          ///< _full_param_padded
  Tensor copy{};            ///< Of a shard on the host: what the original parameters are views of meanwhile.
  Tensor unsharded_grad{};  ///< flat_param.grad, of micro-batches that were not reduced.
  Tensor saved_grad{};      ///< _saved_grad_shard of what is offloaded: on the GPU until backward is over.
  Tensor kept_grad{};       ///< flat_param.grad once its original parameters have none.
  Tensor mixed_grad{};      ///< flat_param.grad where some original parameters alone are trained.
  std::int64_t elements = 0;
  std::int64_t gathered = 0;  ///< Of the shard, what is gathered at once.
  bool trained = false;

  DType whole_dtype() const { return members.front()->whole->dtype; }
};

/// A module that is wrapped. peft's policy wraps an adapter's layers by themselves (peft/utils/other.py:
/// fsdp_auto_wrap_policy); here they share a block's second handle, of which one layer's at a time is gathered.
struct Wrapped final : NodeHook {
  explicit Wrapped(Fsdp1& owner) : fsdp(owner) {}
  void before(Torch& t) override;

  Fsdp1& fsdp;
  std::vector<Handle> handles{};
  State state = State::idle;
  bool root = false;
  bool needs_pre_backward_unshard = false;
  bool prefetched = false;
  int post_forward_index = -1;
};

class Fsdp1 final : public Policy, GradientHook {
 public:
  Fsdp1(const MeshFacts& mesh, bool trained)
      : mesh_(mesh),
        ranks_(mesh.world_size.value / mesh.fsdp_replicas.value),
        trained_(trained),
        mixes_(mesh.fsdp_orig_params.value && mesh.fsdp_units.value == ShardUnits::blocks) {}

  /// What ops are given has no memory of its own: its handle's is its memory while it is whole. The shards are made
  /// once all are known.
  void hold(Torch& t, Parameter& p, DType dtype) override {
    const DType held = p.trained && trained_ && mesh_.fsdp_fp32_trained.value ? DType::fp32 : dtype;
    p.held = t.parameter({0}, held, p.trained);
    p.whole = t.parameter({0}, resolved(mesh_.fsdp_param_dtype.value).value_or(dtype), p.trained);
    p.whole->sizes = p.sizes;
    p.whole->strides = contiguous_strides(p.sizes);
  }

  void wrap(Torch& t, Parameters& parameters) override {
    for (Parameter& p : parameters) {
      if (p.whole.get() != p.held.get()) handle_of(p).members.push_back(&p);
    }
    for (const auto& wrapped : wrapped_) {
      for (Handle& handle : wrapped->handles) flatten(t, handle);
    }
    root().root = true;
    if (late_ && trained_) t.gradient_hook = this;
  }

  /// Outside of its layer's forward function an adapter's weight is its shard, by whose dtype peft casts the input. A
  /// block is recomputed once the gradient has come to its last B, which prefetches the A before it.
  Tensor read_weight(Torch&, const Tensor& whole) override {
    for (const auto& wrapped : wrapped_) {
      const bool recomputed = wrapped->state == State::backward_pre;
      for (const Handle& handle : wrapped->handles) {
        for (std::size_t i = 0; i < handle.members.size(); ++i) {
          const Parameter& p = *handle.members[i];
          if (p.part != Part::adapter || p.whole.get() != whole.get()) continue;
          const bool ahead = recomputed && mesh_.fsdp_prefetch.value == BackwardPrefetch::pre;
          return ahead && i + 2 == handle.members.size() ? whole : p.held;
        }
      }
    }
    return whole;
  }

  /// An adapter's layers are in the order between two blocks: the first of them prefetches the block before. Each
  /// reduces its gradient as it has it.
  void accumulated(Torch& t, const Tensor& leaf) override {
    for (const auto& wrapped : wrapped_) {
      for (Handle& handle : wrapped->handles) {
        for (Parameter* p : handle.members) {
          if (!handle.trained || p->whole.get() != leaf.get()) continue;
          const bool first = p == handle.members.front();
          if (first && mesh_.fsdp_prefetch.value != BackwardPrefetch::none) prefetch(t, *wrapped);
          return reduce_layer(t, handle, *p);
        }
      }
    }
  }

  void enter_model(Torch& t) override {
    for (const auto& wrapped : wrapped_) {
      for (Handle& handle : wrapped->handles) {
        handle.kept_grad.reset();  // _reset_flat_param_grad_info_if_needed
        const auto has = [](const Parameter* p) { return bool(p->held->grad); };
        if (std::ranges::none_of(handle.members, has)) handle.mixed_grad.reset();
      }
    }
    pre_forward(t, root());
  }

  void leave_model(Torch& t, std::initializer_list<Tensor*> outputs) override {
    for (Tensor* output : outputs) post_forward(t, root(), *output);
  }

  void leave_model_with(Torch& t, const Tensor& output) override { post_forward(t, root(), output); }

  /// The framework's checkpoint is within the module that is wrapped.
  bool stands_around_checkpoints(bool /*reentrant*/) const override { return true; }

  Tensor enter_block(Torch& t, int layer, const Tensor& input) override {
    Wrapped& of = block(layer);
    if (of.state == State::backward_pre) return input;  // Recomputed.
    pre_forward(t, of);
    return register_post_backward_hook(t, of, input);
  }

  Tensor leave_block(Torch& t, int layer, const Tensor& output) override {
    Wrapped& of = block(layer);
    Tensor out = output;
    if (of.state != State::backward_pre) post_forward(t, of, out);
    return out;
  }

  void begin(Torch&, bool last) override { sync_gradients_ = mesh_.sync_each.value || last; }

  /// What comes last: the root's gradients, and _post_backward_final_callback.
  void finish(Torch& t) override {
    for (const auto& wrapped : wrapped_) {
      Restore in_layer(t.recorder.scope.layer, layer_of(*wrapped));
      if (wrapped->state == State::backward_pre || wrapped->root) post_backward(t, *wrapped);
      for (Handle& handle : wrapped->handles) keep_gradient(handle);
      wrapped->state = State::idle;
      wrapped->needs_pre_backward_unshard = false;
      wrapped->prefetched = false;
      wrapped->post_forward_index = -1;
    }
    post_forward_order_.clear();
  }

  void pre_backward(Torch& t, Wrapped& of) {
    if (of.state == State::backward_pre) return;
    of.state = State::backward_pre;
    unshard_wrapped(t, of);
    of.needs_pre_backward_unshard = false;
    if (mesh_.fsdp_prefetch.value == BackwardPrefetch::pre && !late_) prefetch(t, of);
  }

 private:
  Wrapped& root() { return wrapped(0); }
  Wrapped& block(int layer) { return wrapped(static_cast<std::size_t>(layer) + 1); }

  Wrapped& wrapped(std::size_t number) {
    while (wrapped_.size() <= number) wrapped_.push_back(std::make_unique<Wrapped>(*this));
    return *wrapped_[number];
  }

  static std::int16_t layer_of(const Wrapped& of) {
    return of.handles.empty() ? std::int16_t{-1} : of.handles.front().members.front()->layer();
  }

  Handle& handle_of(const Parameter& p) {
    Wrapped& of = block(p.layer());
    if (mixes_ && !of.handles.empty()) {
      of.handles.front().trained = of.handles.front().trained || p.trained;
      return of.handles.front();
    }
    if (p.part == Part::adapter && !mixes_) late_ = true;
    const auto at = std::ranges::find(of.handles, p.trained, &Handle::trained);
    if (at != of.handles.end()) return *at;
    Handle& made = of.handles.emplace_back();
    made.trained = p.trained;
    return made;
  }

  /// _init_flat_param_metadata: with original parameters each begins at 16 bytes.
  void flatten(Torch& t, Handle& handle) {
    const std::int64_t aligned = mesh_.fsdp_orig_params.value ? 16 / bytes_of(handle.whole_dtype()) : 1;
    for (const Parameter* p : handle.members) {
      handle.elements = saturating_mul(divided_up(handle.elements, aligned), aligned);
      handle.elements = saturating_add(handle.elements, p->sizes.product());
    }
    Parameter& first = *handle.members.front();
    Restore in_layer(t.recorder.scope.layer, std::int16_t{first.layer()});
    Restore module(t.recorder.scope.module, std::int32_t{first.held->module});
    handle.gathered = late_ && handle.trained ? largest(handle) : chunk(handle);
    handle.shard = t.parameter({mesh_.fsdp_offload.value ? 0 : chunk(handle)}, first.held->dtype, handle.trained);
    first.held = handle.shard;
    if (is_mixed(handle)) show_originals(t, handle, aligned);
  }

  static bool is_mixed(const Handle& handle) {
    return handle.trained && !std::ranges::all_of(handle.members, &Parameter::trained);
  }

  /// _use_unsharded_views: what ops are given are views of a flat parameter that is trained, so that autograd makes
  /// gradients of what is frozen too. _use_sharded_views: the optimizer is given this rank's part of what is trained.
  void show_originals(Torch& t, const Handle& handle, std::int64_t aligned) const {
    handle.shard->requires_grad = false;
    for (Parameter* p : handle.members) p->whole->requires_grad = true;
    std::int64_t begin = 0;
    for (Parameter* p : handle.members) {
      begin = saturating_mul(divided_up(begin, aligned), aligned);
      const std::int64_t own = std::clamp<std::int64_t>(chunk(handle) - begin, 0, p->sizes.product());
      begin = saturating_add(begin, p->sizes.product());
      if (!p->trained) continue;
      const Tensor view = t.on_storage(handle.shard->storage, {own}, {1}, handle.shard->dtype);
      std::swap(p->held->storage, view->storage);
      p->held->sizes = view->sizes;
      p->held->strides = view->strides;
    }
  }

  /// The same of the gradient.
  static void show_gradients(Torch& t, Handle& handle, const Tensor& reduced) {
    handle.mixed_grad = reduced;
    for (Parameter* p : handle.members) {
      if (!p->trained || p->held->sizes.product() == 0) continue;
      p->held->grad = t.on_storage(reduced->storage, p->held->sizes, p->held->strides, p->held->dtype);
    }
  }

  std::int64_t chunk(const Handle& handle) const { return divided_up(handle.elements, ranks_); }

  std::int64_t largest(const Handle& handle) const {
    std::int64_t out = 0;
    for (const Parameter* p : handle.members) out = std::max(out, divided_up(p->sizes.product(), ranks_));
    return out;
  }

  void pre_forward(Torch& t, Wrapped& of) {
    of.state = State::forward;
    unshard_wrapped(t, of);
  }

  void post_forward(Torch& t, Wrapped& of, const Tensor& output) {
    if (of.state == State::forward) {
      of.post_forward_index = static_cast<int>(post_forward_order_.size());
      post_forward_order_.push_back(&of);
      const bool reshards = mesh_.fsdp_reshard.value != Reshard::never;
      if (!of.root && reshards) free_unsharded(of);
      if (reshards || !t.grad_enabled) use_sharded_views(of);
      of.needs_pre_backward_unshard = false;
    }
    of.state = State::idle;
    if (!t.grad_enabled || !output || !output->requires_grad) return;
    of.needs_pre_backward_unshard = true;
    if (output->grad_fn) output->grad_fn->hook = &of;
  }

  // --- gathering ---------------------------------------------------------------------------------------------------

  void unshard_wrapped(Torch& t, Wrapped& of) {
    if (of.prefetched) return;
    for (Handle& handle : of.handles) {
      if (!handle.output || mesh_.fsdp_offload.value) unshard_handle(t, handle);
    }
  }

  /// pre_unshard brings what is on the host whether or not it is whole already.
  void unshard_handle(Torch& t, Handle& handle) {
    Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
    const DType dtype = handle.whole_dtype();
    const bool casts = dtype != handle.shard->dtype;
    Tensor low;  // _mp_shard, or the shard's copy on the device.
    const std::int64_t shard = handle.gathered;
    if (casts || mesh_.fsdp_offload.value) low = t.empty({shard}, dtype, "fsdp::low_precision_shard");
    if (casts && mesh_.fsdp_offload.value) t.empty({shard}, handle.shard->dtype, "aten::_to_copy");
    if (!casts && mesh_.fsdp_orig_params.value) handle.copy = low;  // flat_param_to
    if (!handle.output) handle.output = t.empty({saturating_mul(shard, ranks_)}, dtype, "fsdp::all_gather");
  }

  static void free_unsharded(Wrapped& of) {
    for (Handle& handle : of.handles) handle.output.reset();
    of.prefetched = false;
  }

  static void use_sharded_views(Wrapped& of) {
    for (Handle& handle : of.handles) handle.copy.reset();
  }

  void prefetch(Torch& t, const Wrapped& of) {
    if (of.post_forward_index < 1) return;
    Wrapped& next = *post_forward_order_[static_cast<std::size_t>(of.post_forward_index) - 1];
    if (!next.needs_pre_backward_unshard || next.prefetched) return;
    unshard_wrapped(t, next);
    next.prefetched = true;
  }

  // --- hooks -------------------------------------------------------------------------------------------------------

  /// The handle's views of the flat parameter are made before all else of the module, so that their backward comes
  /// once its own is over. The input comes back as a view of itself.
  static Tensor register_post_backward_hook(Torch& t, Wrapped& of, const Tensor& input) {
    NodeRef node = t.record("SplitWithSizesBackward0", {&input}, [](Torch& torch, Node& n, Grads& g) {
      auto& wrapped = *static_cast<Wrapped*>(const_cast<void*>(n.module));
      wrapped.fsdp.post_backward(torch, wrapped);
      g.out[0] = g.in[0];
    });
    if (!node) return input;
    node->module = &of;
    return t.attach(node, t.view_as(input, input->sizes, input->strides));
  }

  // --- reducing ----------------------------------------------------------------------------------------------------

  void post_backward(Torch& t, Wrapped& of) {
    of.state = State::backward_post;
    std::vector<Tensor> gradients;
    for (Handle& handle : of.handles) gradients.push_back(late_ ? Tensor() : flat_gradient(t, handle));
    if (sync_gradients_ || mesh_.fsdp_reshard.value != Reshard::never) free_unsharded(of);
    use_sharded_views(of);
    if (mesh_.fsdp_prefetch.value == BackwardPrefetch::post && !late_) prefetch(t, of);
    for (std::size_t i = 0; i < of.handles.size(); ++i) {
      if (gradients[i]) reduce_gradient(t, of.handles[i], std::exchange(gradients[i], {}));
    }
  }

  /// The backward of the views: a cat of their gradients, with zeros where there is none.
  static Tensor flat_gradient(Torch& t, Handle& handle) {
    const auto has = [](const Parameter* p) { return bool(p->whole->grad); };
    if (std::ranges::none_of(handle.members, has)) return {};
    std::vector<Tensor> missing;
    for (const Parameter* p : handle.members) {
      if (!has(p)) missing.push_back(t.zeros(p->sizes, handle.whole_dtype()));
    }
    Tensor flat = t.empty({handle.elements}, handle.whole_dtype(), "aten::cat");
    t.recorder.at(flat->storage).bucket = Bucket::gradients;
    for (const Parameter* p : handle.members) p->whole->grad.reset();
    return handle.unsharded_grad ? std::exchange(handle.unsharded_grad, {}) : flat;  // Added in place.
  }

  Tensor& held_gradient(Handle& handle) const {
    return mesh_.fsdp_offload.value ? handle.saved_grad : handle.shard->grad;
  }

  /// The same of an adapter's layer, which is a unit by itself.
  void reduce_layer(Torch& t, Handle& handle, Parameter& p) const {
    if (!sync_gradients_ || !p.whole->grad) return;
    Restore reduces(t.recorder.scope.bucket, Bucket::communication);
    const Tensor flat = t.empty({p.sizes.product()}, p.whole->dtype, "aten::cat");
    p.whole->grad.reset();
    const DType dtype = resolved(mesh_.fsdp_reduce_dtype.value).value_or(flat->dtype);
    const Tensor cast = t.to(flat, dtype);
    const Tensor reduced = t.empty({divided_up(p.sizes.product(), ranks_)}, dtype, "fsdp::reduce_scatter_output");
    const Tensor held = t.to(reduced, handle.shard->dtype);
    Tensor& gradients = held_gradient(handle);
    if (gradients) return;
    gradients = t.empty({chunk(handle)}, handle.shard->dtype, "aten::_to_copy");
    t.recorder.at(gradients->storage).bucket = Bucket::gradients;
  }

  /// _reduce_grad
  void reduce_gradient(Torch& t, Handle& handle, Tensor gradient) {
    if (!sync_gradients_) {
      handle.unsharded_grad = std::move(gradient);
      return;
    }
    Restore reduces(t.recorder.scope.bucket, Bucket::communication);
    const Tensor computed = gradient;  // autograd_computed_grad
    const DType dtype = resolved(mesh_.fsdp_reduce_dtype.value).value_or(gradient->dtype);
    gradient = t.to(gradient, dtype);
    const std::int64_t padded = saturating_mul(chunk(handle), ranks_);
    if (padded != handle.elements) gradient = t.empty({padded}, dtype, "aten::constant_pad_nd");
    Tensor reduced = t.empty({chunk(handle)}, dtype, "fsdp::reduce_scatter_output");
    reduced = t.to(reduced, handle.shard->dtype);
    const bool mixed = is_mixed(handle);
    Tensor& gradients = mixed ? handle.mixed_grad : held_gradient(handle);
    if (gradients) return;  // Added in place.
    t.recorder.at(reduced->storage).bucket = Bucket::gradients;
    if (mixed) return show_gradients(t, handle, reduced);
    gradients = reduced;
  }

  /// zero_grad() goes by the original parameters; the flat gradient lives until the next forward pass sees that.
  void keep_gradient(Handle& handle) const {
    handle.saved_grad.reset();
    if (is_mixed(handle)) return;
    if (mesh_.fsdp_orig_params.value) handle.kept_grad = handle.shard->grad;
  }

  const MeshFacts mesh_;
  const std::int64_t ranks_;
  const bool trained_;
  const bool mixes_;   ///< What is trained and what is not are one flat parameter.
  bool late_ = false;  ///< There are adapters, wrapped by themselves.
  bool sync_gradients_ = true;
  std::vector<std::unique_ptr<Wrapped>> wrapped_{};  ///< The root, then the blocks.
  std::vector<Wrapped*> post_forward_order_{};
};

void Wrapped::before(Torch& t) { fsdp.pre_backward(t, *this); }

}  // namespace

std::unique_ptr<Policy> fsdp1(const MeshFacts& mesh, bool trained) { return std::make_unique<Fsdp1>(mesh, trained); }

}  // namespace oomplan::estimator
