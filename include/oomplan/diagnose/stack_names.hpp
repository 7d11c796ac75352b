// What a stack of a memory snapshot says of the memory that it allocated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/read/snapshot.hpp"

namespace oomplan::diagnose {

/// What the autograd engine allocates, on threads that have no Python.
inline constexpr std::string_view backward = "backward (no Python frames)";

class StackNames {
 public:
  /// `snapshot` must outlive it. Looks at each frame once.
  explicit StackNames(const Snapshot& snapshot);

  /// "weights", "optimizer", "gradients", "communication", "loss", "inputs", "activations": by the innermost frame of
  /// Python that says one; else `backward` where the autograd engine is at work, and "other".
  std::string_view category(std::uint32_t stack) const;
  /// Whether it allocates at the beginning of a backward pass, which runs on without Python frames.
  bool begins_backward(std::uint32_t stack) const;
  /// Whether it allocates in a backward pass, by its frames: where that begins, the autograd engine, and what the
  /// engine has checkpointing compute again. Stacks of the engine's threads mostly have no frames at all.
  bool is_in_backward(std::uint32_t stack) const;
  /// The user's line: the innermost frame of a Python file outside libraries, else the innermost of Python:
  /// "model.py:104 forward". Without any, `backward` or "no Python frames"; empty without frames.
  std::string line(std::uint32_t stack) const;
  /// The frames of Python, else all, at most `most`.
  std::vector<std::string> lines(std::uint32_t stack, std::size_t most) const;

 private:
  struct Said {
    std::string_view category{};
    bool begins_backward = false;
    bool python = false;
    bool users = false;  ///< Of Python, and outside libraries.
    bool recomputes = false;
    bool engine = false;  ///< The autograd engine, which runs the backward pass on threads of its own.
  };
  bool any(std::uint32_t stack, bool Said::*what) const;
  const SnapshotStack& frames_of(std::uint32_t stack) const { return snapshot_.stacks[stack]; }
  std::string shown(std::uint32_t frame) const;

  const Snapshot& snapshot_;
  std::vector<Said> said_{};
};

}  // namespace oomplan::diagnose
