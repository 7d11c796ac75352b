// A program of whose process tree the kernel keeps the count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forwarded_signals.hpp"
#include "oomplan/measure/measure.hpp"
#include "own_cgroup.hpp"

namespace oomplan::measure {

class Child {
 public:
  /// Error: measure/cannot-run.
  Result<bool> start(const std::vector<std::string>& words, bool keep_output);
  /// Whether it is over; `out` has its end then, and its output so far in any case.
  bool poll(Watched& out);
  int pid() const { return pid_; }

 private:
  /// What it says before it becomes a program.
  struct Begun {
    std::int64_t peak = 0;  ///< Until then it is a copy of this process, and the kernel's peak counts that too.
    bool inside = false;    ///< In the cgroup of its own.
  };
  [[noreturn]] void become(const std::vector<std::string>& words, int output, int told) const;
  Result<bool> await(int told, const std::string& program);
  void drain(std::string& out) const;
  void ask_cgroup(TreeMemory& memory) const;

  OwnCgroup cgroup_{};
  ForwardedSignals signals_{};
  Begun begun_{};
  int pid_ = -1;
  int output_ = -1;
};

}  // namespace oomplan::measure
