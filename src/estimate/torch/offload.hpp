// TRL's OffloadActivations (trl/models/activation_offloading.py, 1.16.0; 1.8.0 keeps the same tensors for as long):
// hooks on all that is saved for backward, which copy it to the host and bring it back.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "node.hpp"
#include "recorder.hpp"
#include "tensor.hpp"

namespace oomplan::estimator {

class ActivationOffload {
 public:
  struct Style {
    bool streams = true;        ///< Copies run beside the ops; what they read lives until some later tensor is packed.
    bool clones_first = false;  ///< Axolotl's patch: what is not contiguous is cloned before anything is asked of it,
    bool knows_weights = true;  ///< … and its hooks for peft's models take a view of a weight for an activation.
  };

  ActivationOffload(Torch& torch, Style style) : torch_(torch), style_(style) {}

  /// What `saved` keeps of the tensor: itself, or the promise to bring it back.
  void pack(Saved& saved, Tensor tensor);
  /// For the node that runs, in the backward pass of that number: one within another is a reentrant checkpoint's.
  Tensor unpack(Saved& saved, Node* node, std::uint32_t graph);
  /// The node's function has returned: its post hooks run.
  void ran(const Node& node);
  /// The backward pass ends: what it queued at its first unpacking.
  void ended(std::uint32_t graph);
  /// The context ends.
  void clear();

 private:
  using Key = std::tuple<StorageId, std::int64_t, DType>;
  struct Waiting {
    Dims sizes{};
    Dims strides{};
    DType dtype = DType::fp32;
    std::int64_t elements = 0;  ///< Of the storage.
  };
  struct Hook {
    const Node* node = nullptr;
    std::uint32_t id = 0;
    std::int32_t references = 0;  ///< Of the storage when it came; 0: it had not left.
    std::vector<std::uint32_t> before{};
  };

  bool goes(const Tensor& tensor) const;
  void track(const Key& key, std::uint32_t id);
  void release(std::uint32_t id);
  void leave_stash(std::uint32_t up_to);
  Tensor bring(const Waiting& waiting);
  void run(const Hook& hook);
  /// Nothing is tracked: a forward pass begins.
  void begin();

  Torch& torch_;
  Style style_;
  std::uint32_t last_ = 0;
  std::map<Key, std::uint32_t> tracked_{};
  std::map<std::uint32_t, Key> keys_{};
  std::map<std::uint32_t, Waiting> waiting_{};
  std::map<std::uint32_t, Tensor> stash_{};    ///< Whose copies may still run.
  std::map<std::uint32_t, Tensor> brought_{};  ///< Back, until the next node that brings some has run.
  std::set<std::uint32_t> tracker_{};          ///< Packed, and not unpacked yet.
  std::vector<Hook> hooks_{};
  std::uint32_t graph_ = 0;   ///< Whose nodes let go of what their predecessors brought,
  std::uint32_t queued_ = 0;  ///< … and whose end lets go of all.
  bool first_unpack_ = true;
};

}  // namespace oomplan::estimator
