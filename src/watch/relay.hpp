// One stream of a job on its way to one of ours.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>

#include "descriptor.hpp"
#include "oomplan/watch/watch.hpp"

namespace oomplan::watching {

class Relay {
 public:
  /// From `source` (non-blocking; may be closed) to the descriptor `target`. `sink` must outlive it.
  Relay(Descriptor source, int target, const OutputSink& sink)
      : source_(std::move(source)), target_(target), sink_(sink) {}

  /// What to wait for: room for what is pending, else more from the source.
  pollfd wanted() const;
  /// After poll() said so.
  void act(short events);

  bool ended() const { return !source_.is_open() && pending_.empty(); }
  int source() const { return source_.get(); }
  /// Takes what is there and closes the source; what is pending still goes out.
  void close_source();
  /// Hands the last line on, which may lack its end.
  void finish();
  /// Why the target took no more; empty where it did.
  const std::string& failure() const { return failure_; }

 private:
  bool fill();
  void flush();
  void tell_lines(std::string_view more);

  Descriptor source_;
  int target_;
  const OutputSink& sink_;
  std::string pending_{};  // read, and not written yet
  std::string line_{};     // written, and not told yet
  std::string failure_{};
};

}  // namespace oomplan::watching
