#include "torch/offload.hpp"

#include <algorithm>
#include <limits>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t least_bytes = 1024;  // min_offload_size
constexpr std::uint32_t stash_size = 5;     // max_fwd_stash_size

bool broadcast(const TensorImpl& t) {
  for (int i = 0; i < t.dim(); ++i) {
    if (t.strides[i] == 0) return true;
  }
  return false;
}

bool whole(const TensorImpl& t) { return contiguous(t) && t.offset == 0; }

}  // namespace

bool ActivationOffload::goes(const Tensor& tensor) const {
  if (saturating_mul(tensor->numel(), bytes_of(tensor->dtype)) < least_bytes || tensor->parameter) return false;
  return !style_.knows_weights || torch_.recorder.at(tensor->storage).bucket != Bucket::weights;
}

void ActivationOffload::track(const Key& key, std::uint32_t id) {
  tracked_[key] = id;
  keys_[id] = key;
}

void ActivationOffload::release(std::uint32_t id) {
  const auto key = keys_.find(id);
  if (key == keys_.end()) return;
  if (const auto found = tracked_.find(key->second); found != tracked_.end() && found->second == id)
    tracked_.erase(found);
  keys_.erase(key);
}

void ActivationOffload::leave_stash(std::uint32_t up_to) {
  while (!stash_.empty() && stash_.begin()->first <= up_to) {
    const std::uint32_t id = stash_.begin()->first;
    stash_.erase(stash_.begin());
    release(id);
  }
}

void ActivationOffload::pack(Saved& saved, Tensor tensor) {
  if (style_.clones_first && !tensor->parameter && !whole(*tensor)) {
    Restore no_grad(torch_.grad_enabled, false);
    tensor = torch_.empty(tensor->sizes, tensor->dtype, "aten::clone");
  }
  if (tracker_.empty()) begin();
  const std::uint32_t id = saved.packed = ++last_;
  tracker_.insert(id);
  const Key key{tensor->storage, tensor->offset, tensor->dtype};
  const bool known = style_.streams && tracked_.count(key) > 0;
  if (known) track(key, id);
  if (known || !goes(tensor)) {
    saved.tensor = std::move(tensor);
    return;
  }
  const std::int64_t elements = torch_.recorder.at(tensor->storage).shape.product();
  waiting_[id] = {tensor->sizes, broadcast(*tensor) ? tensor->strides : contiguous_strides(tensor->sizes),
                  tensor->dtype, broadcast(*tensor) ? elements : tensor->numel()};
  if (!broadcast(*tensor) && !whole(*tensor)) tensor = torch_.empty(tensor->sizes, tensor->dtype, "aten::clone");
  if (!style_.streams) return;
  if (id >= stash_size) leave_stash(id - stash_size);
  stash_[id] = std::move(tensor);
  track(key, id);
}

Tensor ActivationOffload::bring(const Waiting& waiting) {
  const Tensor flat = torch_.empty({waiting.elements}, waiting.dtype, "aten::_to_copy");
  return torch_.on_storage(flat->storage, waiting.sizes, waiting.strides, waiting.dtype);
}

Tensor ActivationOffload::unpack(Saved& saved, Node* node, std::uint32_t graph) {
  const std::uint32_t id = saved.packed;
  if (std::exchange(first_unpack_, false)) graph_ = queued_ = graph;
  tracker_.erase(id);
  if (saved.tensor) {
    release(id);
    return saved.tensor;
  }
  const auto waiting = waiting_.find(id);
  if (waiting == waiting_.end()) return brought_[id];
  const Waiting tensor = waiting->second;
  waiting_.erase(waiting);
  if (!style_.streams) return bring(tensor);
  Hook hook{.node = node, .id = id};
  if (graph == graph_ && torch_.offload_at().get() != node) {
    torch_.offload_at() = NodeRef(node);
    for (const auto& [other, held] : brought_) hook.before.push_back(other);
  }
  Tensor out;
  if (const auto stashed = stash_.find(id); stashed != stash_.end()) {
    out = stashed->second;
  } else {
    out = brought_[id] = bring(tensor);
    hook.references = torch_.recorder.at(out->storage).refs;
  }
  hooks_.push_back(std::move(hook));
  release(id);
  return out;
}

void ActivationOffload::run(const Hook& hook) {
  const auto held = hook.references > 0 ? brought_.find(hook.id) : brought_.end();
  if (held != brought_.end() && torch_.recorder.at(held->second->storage).refs > hook.references) brought_.erase(held);
  leave_stash(std::numeric_limits<std::uint32_t>::max());
  for (const std::uint32_t id : hook.before) brought_.erase(id);
}

void ActivationOffload::ran(const Node& node) {
  for (const Hook& hook : hooks_) {
    if (hook.node == &node) run(hook);
  }
  std::erase_if(hooks_, [&](const Hook& hook) { return hook.node == &node; });
}

void ActivationOffload::ended(std::uint32_t graph) {
  if (graph == queued_) brought_.clear();
}

void ActivationOffload::begin() {
  tracked_.clear();
  keys_.clear();
  first_unpack_ = true;
}

void ActivationOffload::clear() {
  leave_stash(std::numeric_limits<std::uint32_t>::max());
  brought_.clear();
  hooks_.clear();
  waiting_.clear();
  tracker_.clear();
  begin();
  last_ = 0;
}

}  // namespace oomplan::estimator
