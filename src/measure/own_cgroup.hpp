// A cgroup for one process tree, so that the kernel's peak is the tree's own, however short.
#pragma once

#include <optional>
#include <string>

#include "cgroup.hpp"

namespace oomplan::measure {

/// Made where this process may make one below its own limits; gone with the object. What still lives in it then goes
/// to where it would be otherwise.
class OwnCgroup {
 public:
  OwnCgroup();
  ~OwnCgroup();
  OwnCgroup(const OwnCgroup&) = delete;
  OwnCgroup& operator=(const OwnCgroup&) = delete;

  bool made() const { return own_.has_value(); }
  /// The calling process goes into it; false where it may not.
  bool enter() const;
  CgroupMemory memory() const { return own_ ? memory_of(*own_) : CgroupMemory{}; }

 private:
  std::optional<Cgroup> from_{};
  std::optional<Cgroup> own_{};
};

}  // namespace oomplan::measure
