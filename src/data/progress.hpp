// How far reading is, on a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace oomplan::data {

/// One line that is written over, a few times a second, and taken away at the end.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void show(std::int64_t rows, std::int64_t decoded);
  /// From any thread.
  void reached(double share) { share_ = share; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
  std::atomic<double> share_{-1};  // not known of a pipe
  bool shown_ = false;
};

}  // namespace oomplan::data
