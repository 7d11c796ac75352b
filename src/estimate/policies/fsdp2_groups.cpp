#include "policies/fsdp2_groups.hpp"

#include <algorithm>
#include <utility>

#include "policies/mixed_dtype.hpp"

namespace oomplan::estimator {
namespace {

/// FSDPCommContext's streams whose tensors have memory of their own.
enum : std::uint8_t { all_gather_copy_in_stream = 1, reduce_scatter_stream, all_reduce_stream };

std::int16_t layer_of(const Fsdp2Group& group) {
  return group.members.empty() ? std::int16_t{-1} : group.members.front().parameter->layer();
}

void to_sharded(Fsdp2Group& group) {
  for (Fsdp2Parameter& m : group.members) m.output.reset();
  group.whole = false;
}

// to_accumulated_grad_if_needed
void accumulate(Torch& t, Fsdp2Parameter& m) {
  Tensor& gradient = m.parameter->whole->grad;
  if (!m.reduce_dtype || !gradient || gradient->dtype == *m.reduce_dtype) return;
  const Tensor old = std::exchange(gradient, {});
  const Dims whole = t.recorder.at(old->storage).shape;
  const bool part = m.parameter->whole->subclass && t.is_part(old);
  m.accumulated = t.empty(part ? whole : old->sizes, *m.reduce_dtype, "aten::_to_copy");
  if (part) m.accumulated = t.slice(m.accumulated, 0, 0, old->sizes[0]);
  t.recorder.at(m.accumulated->storage).bucket = Bucket::gradients;
}

void view_out(Torch& t, const Parameter& p, const Tensor& reduced) {
  if (p.held->grad) return;  // Added in place.
  t.recorder.at(reduced->storage).bucket = Bucket::gradients;
  p.held->grad = t.on_storage(reduced->storage, p.held->sizes, p.held->strides, p.held->dtype);
}

// _get_grad_inner_tensor: of what tensor parallelism makes whole on each rank its part is copied.
Tensor inner_gradient(Torch& t, const Tensor& parameter, const Tensor& gradient) {
  return parameter->subclass && t.is_part(gradient) ? t.clone(gradient) : gradient;
}

}  // namespace

void Fsdp2Group::before(Torch& t) { groups.pre_backward(t, *this); }

Dims Fsdp2Groups::chunk_of(Dims sizes) const {
  if (sizes.size() > 0) sizes[0] = divided_up(sizes[0], ranks_);
  return sizes;
}

Dims Fsdp2Groups::own_of(Dims sizes, std::int64_t shard) const {
  if (sizes.size() == 0) return sizes;
  const std::int64_t chunk = divided_up(sizes[0], ranks_);
  sizes[0] = std::clamp<std::int64_t>(sizes[0] - saturating_mul(shard, chunk), 0, chunk);
  return sizes;
}

Tensor Fsdp2Groups::full_tensor(Torch& t, const Parameter& p) const {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  if (ranks_ == 1) return t.on_storage(p.held->storage, p.sizes, contiguous_strides(p.sizes), p.held->dtype);
  Dims sizes = chunk_of(p.sizes);
  sizes[0] = saturating_mul(sizes[0], ranks_);
  const Tensor all = t.empty(sizes, p.held->dtype, "_c10d_functional::all_gather_into_tensor");
  return t.on_storage(all->storage, p.sizes, contiguous_strides(p.sizes), p.held->dtype);
}

void Fsdp2Groups::pre_forward(Torch& t, Fsdp2Group& group) {
  group.state = Fsdp2Group::State::forward;
  unshard(t, group, true);
  wait_for_unshard(t, group);
}

void Fsdp2Groups::post_forward(Torch& t, Fsdp2Group& group) {
  const bool again = t.recorder.scope.phase == Phase::backward;
  if (again) all_gather_state_.reset();
  if (!again && !group.members.empty()) {
    reshard(t, group);
    group.forwards.push_back(post_forward_order_.size());
    post_forward_order_.push_back(&group);
  }
  group.state = Fsdp2Group::State::idle;
}

// What a rank gives: its chunk with its padding, or the larger one that it kept from forward.
std::int64_t Fsdp2Groups::padded_elements(const Fsdp2Parameter& m) const {
  return m.smaller ? m.smaller->numel() : chunk_of(m.parameter->sizes).product();
}

std::int64_t Fsdp2Groups::gathered_elements(const Fsdp2Parameter& m) const {
  return saturating_mul(padded_elements(m), m.smaller ? mesh_.fsdp_reshard_ranks.value : ranks_);
}

void Fsdp2Groups::unshard(Torch& t, Fsdp2Group& group, bool by_hook) {
  if (group.gathering || group.whole || group.members.empty()) return;
  group.gathering = true;
  Restore stream(t.recorder.scope.stream, by_hook ? std::uint8_t{all_gather_copy_in_stream} : t.recorder.scope.stream);
  if (ranks_ > 1) foreach_all_gather(t, group);
}

// Of what is on the host, each is copied and cast by itself.
std::vector<Tensor> Fsdp2Groups::moved_inputs(Torch& t, const Fsdp2Group& group) const {
  std::vector<Tensor> out;
  for (const Fsdp2Parameter& m : group.members) {
    const Tensor moved = t.empty({padded_elements(m)}, m.parameter->held->dtype, "aten::_to_copy");
    out.push_back(t.to(moved, m.parameter->whole->dtype));
  }
  return out;
}

// The inputs that are cast are copied into one tensor, which Python's names keep until the function returns.
void Fsdp2Groups::foreach_all_gather(Torch& t, Fsdp2Group& group) {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  std::int64_t all = 0;
  std::int64_t cast = 0;
  DType dtype = group.members.front().parameter->whole->dtype;
  for (const Fsdp2Parameter& m : group.members) {
    const std::int64_t times = one_unit_ ? m.parameter->layers : 1;  // Of which one layer alone may be played.
    const std::int64_t elements = saturating_mul(gathered_elements(m), times);
    if (m.parameter->whole->dtype != dtype) dtype = DType::uint8;
    all = saturating_add(all, saturating_mul(elements, bytes_of(m.parameter->whole->dtype)));
    if (m.casts()) cast = saturating_add(cast, saturating_mul(padded_elements(m), times));
  }
  const DType cast_to = resolved(mesh_.fsdp_param_dtype.value).value_or(dtype);
  const bool moved = mesh_.fsdp_offload.value;
  const std::vector<Tensor> inputs = moved ? moved_inputs(t, group) : std::vector<Tensor>();
  const Tensor input = cast > 0 && !moved ? t.empty({cast}, cast_to, "fsdp::foreach_copy") : Tensor();
  group.gathered = t.empty({all / bytes_of(dtype)}, dtype, "fsdp::all_gather");
}

// In forward the result is kept until the next unit has copied its own out.
void Fsdp2Groups::wait_for_unshard(Torch& t, Fsdp2Group& group) {
  if (!group.gathering) return;
  Tensor previous;
  if (group.state == Fsdp2Group::State::forward) previous = std::exchange(all_gather_state_, {});
  copy_out(t, group);
  group.whole = true;
  group.gathering = false;
  if (group.state == Fsdp2Group::State::forward) {
    all_gather_state_ = std::move(group.gathered);
  } else {
    group.gathered.reset();
  }
}

void Fsdp2Groups::copy_out(Torch& t, Fsdp2Group& group) {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  Tensor input;  // Of a world of one: cast, and copied.
  for (Fsdp2Parameter& m : group.members) {
    Restore in_layer(t.recorder.scope.layer, std::int16_t{m.parameter->layer()});
    const DType dtype = m.parameter->whole->dtype;
    if (ranks_ == 1 && m.casts()) input = t.empty({padded_elements(m)}, dtype, "aten::_to_copy");
    m.output = t.empty({gathered_elements(m)}, dtype, "fsdp::split_with_sizes_copy");
  }
  for (Fsdp2Parameter& m : group.members) m.smaller.reset();
}

void Fsdp2Groups::reshard(Torch& t, Fsdp2Group& group) {
  if (!group.whole) return;
  if (group.state == Fsdp2Group::State::forward) {
    if (!group.resharded) return;
    if (mesh_.fsdp_reshard.value == Reshard::smaller) return to_sharded_post_forward(t, group);
  }
  to_sharded(group);
}

void Fsdp2Groups::to_sharded_post_forward(Torch& t, Fsdp2Group& group) {
  Restore gathers(t.recorder.scope.bucket, Bucket::gathered);
  for (Fsdp2Parameter& m : group.members) {
    m.smaller = t.empty({m.output->numel() / mesh_.fsdp_reshard_ranks.value}, m.output->dtype, "aten::clone");
    m.output.reset();
  }
  group.whole = false;
}

void Fsdp2Groups::prefetch(Torch& t, Fsdp2Group& group) {
  if (group.forwards.empty()) return;
  const std::size_t index = group.forwards.back();
  group.forwards.pop_back();
  if (index > 0) unshard(t, *post_forward_order_[index - 1], true);
}

void Fsdp2Groups::pre_backward(Torch& t, Fsdp2Group& group) {
  if (group.state == Fsdp2Group::State::pre_backward) return;
  group.state = Fsdp2Group::State::pre_backward;
  unshard(t, group, true);
  wait_for_unshard(t, group);
  prefetch(t, group);
}

void Fsdp2Groups::post_backward(Torch& t, Fsdp2Group& group) {
  group.state = Fsdp2Group::State::post_backward;
  if (group.members.empty()) return;
  for (Fsdp2Parameter& m : group.members) {
    if (m.accumulated) m.parameter->whole->grad.reset();  // Added in place.
  }
  if (!reduce_grads_) {
    if (reshard_after_backward_) reshard(t, group);
    for (Fsdp2Parameter& m : group.members) accumulate(t, m);
    return;
  }
  std::vector<Fsdp2Parameter*> members;
  std::vector<Tensor> gradients;
  for (Fsdp2Parameter& m : group.members) {
    Tensor& gradient = m.accumulated ? m.accumulated : m.parameter->whole->grad;
    if (!gradient) continue;
    members.push_back(&m);
    gradients.push_back(inner_gradient(t, m.parameter->whole, std::exchange(gradient, {})));
  }
  if (reshard_after_backward_) reshard(t, group);
  reduce_scatter_state_.reset();
  if (members.empty()) return;
  group.all_reduced.reset();
  foreach_reduce(t, group, members, std::move(gradients));
}

// The last gradient lives as long as the function: it is a loop's variable there.
void Fsdp2Groups::foreach_reduce(Torch& t, Fsdp2Group& group, const std::vector<Fsdp2Parameter*>& members,
                                 std::vector<Tensor> gradients) {
  Restore reduces(t.recorder.scope.bucket, Bucket::communication);
  const Tensor last = ranks_ > 1 ? gradients.back() : Tensor();
  const DType held = members.front()->parameter->held->dtype;
  const DType dtype = members.front()->reduce_dtype.value_or(gradients.front()->dtype);
  std::int64_t shards = 0;
  for (const Fsdp2Parameter* m : members) shards = saturating_add(shards, chunk_of(m->parameter->sizes).product());
  reduce_scatter_state_ = t.empty({saturating_mul(shards, ranks_)}, dtype, "fsdp::reduce_scatter_input");
  gradients.clear();
  Restore stream(t.recorder.scope.stream, std::uint8_t{reduce_scatter_stream});
  Tensor reduced = t.empty({shards}, dtype, "fsdp::reduce_scatter_output");
  if (mesh_.fsdp_replicas.value > 1) {
    group.all_reduced = reduced;
    t.recorder.scope.stream = all_reduce_stream;
  }
  if (dtype != held) reduced = t.empty({shards}, held, "aten::_to_copy");
  if (mesh_.fsdp_offload.value) return;
  for (const Fsdp2Parameter* m : members) {
    view_out(t, *m->parameter, reduced);
    if (t.gradient_hook != nullptr) t.gradient_hook->accumulated(t, m->parameter->held);
  }
}

void Fsdp2Groups::unshard_now(Torch& t, Fsdp2Group& group) {
  unshard(t, group, false);
  wait_for_unshard(t, group);
}

void Fsdp2Groups::give_back(Fsdp2Group& group) { to_sharded(group); }

void Fsdp2Groups::begin(bool last) {
  const bool pipelined = is_pipelined(mesh_);
  reduce_grads_ = !pipelined && (mesh_.sync_each.value || last);
  reshard_after_backward_ = !pipelined && (mesh_.fsdp_reshard_unreduced.value || last);
}

void Fsdp2Groups::reduce(Torch& t, Fsdp2Group& group) {
  Restore in_layer(t.recorder.scope.layer, layer_of(group));
  post_backward(t, group);
}

void Fsdp2Groups::finish(Torch& t, Fsdp2Group& group) {
  Restore in_layer(t.recorder.scope.layer, layer_of(group));
  if (group.state != Fsdp2Group::State::post_backward) post_backward(t, group);
  group.state = Fsdp2Group::State::idle;
  if (!is_last_backward()) return;
  group.all_reduced.reset();
  group.gathered.reset();
  group.gathering = false;
  group.forwards.clear();
  group.modules_to_run = 0;
}

void Fsdp2Groups::finish() {
  if (!is_last_backward()) return;
  post_forward_order_.clear();
  reduce_scatter_state_.reset();
}

}  // namespace oomplan::estimator
