// torch/csrc/autograd: engine.cpp, input_buffer.cpp, functions/accumulate_grad.h, saved_variable.cpp.
#include <cassert>
#include <limits>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::uint64_t first_of_all = std::numeric_limits<std::uint64_t>::max();

/// utils::obeys_layout_contract: may the gradient be taken as it is for this leaf?
bool obeys_layout(const TensorImpl& gradient, const TensorImpl& leaf) {
  if (!dense(leaf)) return contiguous(gradient);
  for (int i = 0; i < gradient.dim(); ++i) {
    if (gradient.sizes[i] != 1 ? gradient.strides[i] != leaf.strides[i] : gradient.strides[i] == 0) return false;
  }
  return true;
}

}  // namespace

Node* Torch::new_node() {
  Node* node = nodes_.take();
  node->torch = this;
  return node;
}

NodeRef Torch::record(const char* name, std::initializer_list<const Tensor*> inputs, BackwardFn formula) {
  bool any = false;
  for (const Tensor* x : inputs) any = any || (*x && (*x)->requires_grad);
  if (!any || !grad_enabled) return {};
  Node* node = new_node();
  node->sequence = next_sequence_++;
  node->name = name;
  node->backward = formula;
  node->subclass = subclasses;
  node->scope = recorder.scope;
  node->output_count = 1;
  NodeRef ref(node);
  assert(inputs.size() <= node->next.size());
  for (const Tensor* x : inputs) {
    Edge& edge = node->next[static_cast<std::size_t>(node->next_count++)];
    if (!*x || !(*x)->requires_grad) continue;
    edge.node = (*x)->leaf() ? accumulator_of(*x) : (*x)->grad_fn;
    edge.input_nr = (*x)->output_nr;
  }
  return ref;
}

NodeRef Torch::accumulator_of(const Tensor& leaf) {
  if (leaf->accumulator != nullptr) return NodeRef(leaf->accumulator);
  Node* node = new_node();
  node->sequence = first_of_all;
  node->name = "AccumulateGrad";
  node->variable = leaf;
  node->subclass = leaf->subclass;
  node->output_count = 1;
  node->outputs[0] = {leaf->sizes, leaf->dtype};
  node->scope = recorder.scope;
  node->scope.layer = leaf->layer;
  leaf->accumulator = node;
  return NodeRef(node);
}

void Torch::free_node(Node* node) {
  // A chain of nodes is as long as the model is deep: freed by a loop, not by recursion.
  dying_nodes_.push_back(node);
  if (draining_) return;
  draining_ = true;
  while (!dying_nodes_.empty()) {
    Node* n = dying_nodes_.back();
    dying_nodes_.pop_back();
    // What a turn of a loop saved it lets go of by itself, wherever the graph is let go of.
    const std::int16_t here = recorder.scope.layer;
    Restore turn(recorder.scope.layer, loops.is_turn(n->scope.layer) ? std::int16_t{n->scope.layer} : here);
    for (int i = 0; i < n->saved_count; ++i) n->saved[static_cast<std::size_t>(i)].clear();
    for (int i = 0; i < n->next_count; ++i) n->next[static_cast<std::size_t>(i)].node.reset();
    for (Tensor& b : n->buffer) b.reset();
    if (n->variable) n->variable->accumulator = nullptr;
    n->variable.reset();
    n->attribute.reset();
    if (n->frame != nullptr && --n->frame->refs == 0) delete n->frame;
    n->frame = nullptr;
    n->saved_count = n->next_count = n->dependencies = 0;
    n->visit = 0;
    n->subclass = false;
    n->ints = {};
    n->module = nullptr;
    n->hook = nullptr;
    n->dims = {};
    nodes_.give(n);
  }
  draining_ = false;
}

Tensor Torch::attach(const NodeRef& node, Tensor output, int output_nr) {
  if (!node) return output;
  assert(static_cast<std::size_t>(output_nr) < node->outputs.size());
  output->grad_fn = node;
  output->output_nr = static_cast<std::uint8_t>(output_nr);
  output->requires_grad = true;
  node->output_count = std::max(node->output_count, output_nr + 1);
  node->outputs[static_cast<std::size_t>(output_nr)] = {output->sizes, output->dtype};
  return output;
}

void Torch::keep_for_backward(const Tensor& tensor) {
  Bucket& bucket = recorder.at(tensor->storage).bucket;
  if (bucket == Bucket::temporaries) bucket = Bucket::activations;
}

void Torch::save(const NodeRef& node, int slot, const Tensor& tensor) {
  if (!node || !tensor) return;
  assert(static_cast<std::size_t>(slot) < node->saved.size());
  node->saved_count = std::max(node->saved_count, slot + 1);
  pack(node->saved[static_cast<std::size_t>(slot)], tensor);
}

/// By the innermost hooks on saved tensors that are on.
void Torch::pack(Saved& saved, const Tensor& tensor) {
  if (packing_ != nullptr) {
    saved.frame = packing_;
    ++packing_->refs;
    saved.index = packing_->saved++;
    return;
  }
  keep_for_backward(tensor);
  if (offload != nullptr && recomputing_ == nullptr) return offload->pack(saved, tensor);
  saved.tensor = recomputing_ != nullptr ? detach(tensor) : tensor;
  if (recomputing_ == nullptr) return;
  const std::vector<bool>& forgotten = recomputing_->forgotten;
  const std::size_t at = recomputing_->tensors.size();
  recomputing_->tensors.push_back(at < forgotten.size() && forgotten[at] ? Tensor() : detach(tensor));
  if (++recomputing_->recomputed == recomputing_->saved && recomputing_->style.early_stop) recorder.mute();
}

void Torch::hold(const NodeRef& node, const Tensor& tensor) {
  if (!node) return;
  node->attribute = tensor;
  keep_for_backward(tensor);
}

void Torch::save_output(const NodeRef& node, int slot, const Tensor& tensor) {
  if (node) save(node, slot, detach(tensor));
}

void Torch::keep(const NodeRef& node, int slot, const Tensor& tensor) {
  if (!node) return;
  node->saved_count = std::max(node->saved_count, slot + 1);
  node->saved[static_cast<std::size_t>(slot)].tensor = tensor;
}

Tensor Torch::bring_back(Saved& saved) { return offload->unpack(saved, running_, graph_); }

Tensor Torch::unpack(Node& node, int slot) { return unpack(node.saved[static_cast<std::size_t>(slot)]); }

Tensor Torch::unpack(Saved& saved) {
  if (saved.frame != nullptr) return recomputed(saved);
  return saved.packed > 0 ? bring_back(saved) : saved.tensor;
}

void Torch::clear() {
  offload_at_.reset();
  assert(impls_.whole() && nodes_.whole());
  recorder.clear();
  loops.clear();
  kernels.clear();
  newer_kernel = "";
  older_gpu = false;
  next_sequence_ = 0;
  gradient_hook = nullptr;
  zero3_linear = loss_parallel = false;
  offload = nullptr;
}

void Torch::backward(const Tensor& root) {
  if (!root->grad_fn) return;
  Restore no_grad(grad_enabled, false);
  // A device has a thread of the engine's, which counts for itself how deep it is in autocast: where a checkpoint is
  // computed again, leaving it lets go of all copies, whoever is in autocast around backward().
  const Restore nesting(autocast_depth_, 0);
  const Tensor ones = empty(root->sizes, root->dtype, "aten::ones_like");  // Held by the caller to the end.
  backward_from(root, ones);
}

void Torch::count_dependencies(Node* from, std::uint32_t visit) {
  if (std::exchange(from->visit, visit) == visit) return;
  std::vector<Node*> stack{from};
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    for (int i = 0; i < n->next_count; ++i) {
      Node* next = n->next[static_cast<std::size_t>(i)].node.get();
      if (next == nullptr) continue;
      ++next->dependencies;
      if (std::exchange(next->visit, visit) != visit) stack.push_back(next);
    }
  }
}

void Torch::backward_from(const Tensor& root, Tensor gradient) { backward_from(root, std::move(gradient), {}); }

void Torch::backward_from(const Tensor& root, Tensor gradient, std::span<std::pair<Tensor, Tensor>> others) {
  Restore no_grad(grad_enabled, false);
  auto outer_queue = std::exchange(ready_, {});
  const std::uint32_t visit = ++visit_;
  const Restore graph(graph_, std::uint32_t{visit});
  std::vector<NodeRef> kept;
  count_dependencies(root->grad_fn.get(), visit);
  root->grad_fn->buffer[root->output_nr] = std::move(gradient);
  for (auto& [other, of_other] : others) {
    if (!other || !other->requires_grad) continue;
    const NodeRef node = other->leaf() ? accumulator_of(other) : other->grad_fn;
    count_dependencies(node.get(), visit);
    node->buffer[other->output_nr] = std::move(of_other);
    kept.push_back(node);
  }
  for (const NodeRef& node : kept) {
    if (node->dependencies == 0) ready_.push_back(node.get());
  }
  if (root->grad_fn->dependencies == 0) ready_.push_back(root->grad_fn.get());
  std::make_heap(ready_.begin(), ready_.end(), is_later);
  while (!ready_.empty()) evaluate(*pop_ready());
  ready_ = std::move(outer_queue);
  if (offload != nullptr) offload->ended(visit);
}

Node* Torch::pop_ready() {
  std::pop_heap(ready_.begin(), ready_.end(), is_later);
  Node* out = ready_.back();
  ready_.pop_back();
  return out;
}

void Torch::evaluate(Node& node) {
  const Phase phase = recorder.scope.phase;
  Restore scope(recorder.scope, node.scope);
  recorder.scope.phase = phase;
  if (node.hook != nullptr) node.hook->before(*this);
  Grads grads;
  for (int i = 0; i < node.output_count; ++i) {
    grads.in[static_cast<std::size_t>(i)] = std::move(node.buffer[static_cast<std::size_t>(i)]);
  }
  if (node.sequence == first_of_all) {
    accumulate(node, grads.in[0]);
    return;
  }
  Restore running(running_, &node);
  node.backward(*this, node, grads);
  if (offload != nullptr) offload->ran(node);
  validate(node, grads);
  for (Tensor& g : grads.in) g.reset();
  for (int i = 0; i < node.saved_count && !retains_; ++i) node.saved[static_cast<std::size_t>(i)].clear();
  for (int i = 0; i < node.next_count; ++i) {
    Edge& edge = node.next[static_cast<std::size_t>(i)];
    Node* next = edge.node.get();
    if (!node.needs(i)) continue;
    add_to_buffer(*next, edge.input_nr, std::move(grads.out[static_cast<std::size_t>(i)]));
    if (--next->dependencies != 0) continue;
    ready_.push_back(next);
    std::push_heap(ready_.begin(), ready_.end(), is_later);
  }
}

void Torch::validate(Node& node, Grads& grads) {
  for (int i = 0; i < node.next_count; ++i) {
    const Edge& edge = node.next[static_cast<std::size_t>(i)];
    Tensor& gradient = grads.out[static_cast<std::size_t>(i)];
    if (!edge.node || !gradient) continue;
    const Node::Meta& meta = edge.node->outputs[edge.input_nr];
    if (!(gradient->sizes == meta.sizes)) gradient = sum_to(gradient, meta.sizes);
    if (gradient->dtype != meta.dtype) gradient = to(gradient, meta.dtype);
  }
}

void Torch::add_to_buffer(Node& node, int nr, Tensor gradient) {
  if (!gradient) return;
  Tensor& held = node.buffer[static_cast<std::size_t>(nr)];
  if (!held) {
    held = std::move(gradient);
    return;
  }
  // A part of what all ranks have is copied to be added to a shard.
  const Tensor part = node.subclass && is_part(gradient) ? clone(gradient) : gradient;
  const bool in_place = !node.subclass && held->refs == 1 && recorder.at(held->storage).refs == 1 && dense(*held);
  if (!in_place) held = pointwise({&held, &part}, held->dtype, "aten::add");
}

void Torch::accumulate(Node& node, const Tensor& gradient) {
  if (!gradient) return;
  take_gradient(node.variable, gradient);
  if (gradient_hook != nullptr && node.variable->parameter) gradient_hook->accumulated(*this, node.variable);
}

void Torch::take_gradient(const Tensor& leaf, const Tensor& gradient) {
  if (leaf->grad) return;  // Added in place.
  const bool steal = gradient->refs == 1 && obeys_layout(*gradient, *leaf);
  leaf->grad = steal ? detach(gradient) : empty_strided(leaf->sizes, leaf->strides, gradient->dtype, "aten::clone");
  const StorageId storage = leaf->grad->storage;
  if (!leaf->parameter) {
    recorder.at(storage).bucket = Bucket::gradients;  // Of an input: it goes with the backward pass.
  } else {
    recorder.hold_gradient(storage, steal ? HeldAs::gradient_taken : HeldAs::gradient_made);
  }
}

}  // namespace oomplan::estimator
