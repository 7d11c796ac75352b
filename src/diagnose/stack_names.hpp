// What a stack of a memory snapshot says of the memory that it allocated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/snapshot.hpp"

namespace oomplan::diagnose {

class StackNames {
 public:
  /// `snapshot` must outlive it. Looks at each frame once.
  explicit StackNames(const Snapshot& snapshot);

  /// "weights", "optimizer", "gradients", "communication", "loss", "inputs", "activations", "other": by the innermost
  /// frame that says one.
  std::string_view category(std::uint32_t stack) const;
  /// Whether it allocates at the beginning of a backward pass, which runs on without Python frames.
  bool begins_backward(std::uint32_t stack) const;
  /// The innermost frame that is not PyTorch's own, else the innermost: "model.py:104 forward"; empty without frames.
  std::string line(std::uint32_t stack) const;
  /// The same for each frame, at most `most`.
  std::vector<std::string> lines(std::uint32_t stack, std::size_t most) const;

 private:
  struct Said {
    std::string_view category{};
    bool begins_backward = false;
    bool own = false;
  };
  const SnapshotStack& frames_of(std::uint32_t stack) const { return snapshot_.stacks[stack]; }
  std::string shown(std::uint32_t frame) const;

  const Snapshot& snapshot_;
  std::vector<Said> said_{};
};

}  // namespace oomplan::diagnose
