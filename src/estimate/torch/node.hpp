// The autograd graph.
#pragma once

#include <array>
#include <cstdint>

#include "tensor.hpp"

namespace oomplan::estimator {

struct CheckpointFrame;

/// A tensor kept for backward; under non-reentrant checkpointing only the promise to recompute it, where it is
/// offloaded that to bring it back.
struct Saved {
  Tensor tensor{};
  CheckpointFrame* frame = nullptr;
  int index = -1;
  std::uint32_t packed = 0;  ///< Its number among what an ActivationOffload packed; 0: none did.

  void clear();
};

struct Edge {
  NodeRef node{};
  std::uint8_t input_nr = 0;
};

/// What the engine hands to a backward function and takes from it: gradients of the node's outputs, then of its inputs.
struct Grads {
  std::array<Tensor, 8> in{};
  std::array<Tensor, 8> out{};
};

using BackwardFn = void (*)(Torch&, Node&, Grads&);

/// Called by the engine before a node runs: a hook on the tensor that the node made (Tensor.register_hook).
class NodeHook {
 public:
  virtual void before(Torch& torch) = 0;

 protected:
  ~NodeHook() = default;
};

/// Is told what each node of a pass is given before it runs (Node.register_prehook).
class NodeWatch {
 public:
  virtual void given(const Node& node) = 0;

 protected:
  ~NodeWatch() = default;
};

struct Node {
  Torch* torch = nullptr;
  int refs = 0;
  std::uint64_t sequence = 0;  ///< Later nodes run first; accumulators before all.
  const char* name = "";
  BackwardFn backward = nullptr;
  std::array<Saved, 10> saved{};
  int saved_count = 0;
  std::array<Edge, 8> next{};
  int next_count = 0;
  struct Meta {
    Dims sizes{};
    DType dtype = DType::fp32;
  };
  std::array<Meta, 8> outputs{};  ///< Of the forward tensors it made: gradients are reduced and cast to these.
  int output_count = 1;
  Dims dims{};  ///< The op's own arguments, as it likes.
  std::array<std::int64_t, 4> ints{};
  bool subclass = false;         ///< The gradient of its output is a DTensor, which no buffer adds to in place.
  const void* module = nullptr;  ///< The module whose function it is, where that is not aten's.
  NodeHook* hook = nullptr;
  Scope scope{};
  Tensor variable{};   ///< Of an accumulator: the leaf.
  Tensor attribute{};  ///< An attribute of a Python function's ctx: no hook packs it, and it goes with the node.
  CheckpointFrame* frame = nullptr;  ///< Of a reentrant checkpoint.

  // The engine's, during one backward.
  int dependencies = 0;
  std::uint32_t visit = 0;
  unsigned skipped = 0;  ///< Of the edges, by their bits, those that a pass for some leaves alone does not take.
  std::array<Tensor, 8> buffer{};

  bool needs(int input) const {
    return bool(next[static_cast<std::size_t>(input)].node) && (skipped >> static_cast<unsigned>(input) & 1U) == 0;
  }
};

/// CompareNodeTaskTime: of nodes of one sequence number, as all that accumulate have, the heap decides.
inline bool is_later(const Node* a, const Node* b) { return a->sequence < b->sequence; }

void free_node(Node* node);

inline NodeRef::NodeRef(Node* node) : node_(node) {
  if (node_ != nullptr) ++node_->refs;
}

inline void NodeRef::reset() {
  Node* node = std::exchange(node_, nullptr);
  if (node != nullptr && --node->refs == 0) free_node(node);
}

}  // namespace oomplan::estimator
