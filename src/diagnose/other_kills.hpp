// A kill that was of something else: a host's log beside a run's tells of everybody on the host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

/// Whether a failure is the run's own, and no error of talking to others, which comes of their death as well: a refused
/// allocation, a full disk, an exception below its frames.
bool tells_own_end(const Evidence& e, const std::vector<Line>& lines);

/// Of a kill that the kernel, the kubelet or a daemon tells of in one file, where another file tells the run's own end
/// (a traceback of its own, a refused allocation, that it finished), and nothing in the case says that a process of it
/// was killed, vanished, or was waited for: a process that is killed tells nothing of its end.
class OtherKills {
 public:
  /// `survived` says of an index of `all` whether the run went on behind that failure.
  OtherKills(const std::vector<Evidence>& all, const std::vector<Line>& lines,
             const std::function<bool(std::size_t)>& survived);

  bool operator()(const Evidence& kill) const;

 private:
  bool someone_vanished_ = false;
  std::vector<std::string> ended_{};  ///< Files that tell their own end, at most two.
};

}  // namespace oomplan::diagnose
