// A kill that was of something else: a host's log beside a run's tells of everybody on the host.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// A kill that a host's log tells: by the kernel of any system, or by a daemon that watches the host. A scheduler's
/// kills its own job.
bool is_kill_on_host(const Wordings& wordings, const Evidence& e);

/// Whether a failure is the run's own, and no error of talking to others, which comes of their death as well: a refused
/// allocation, a full disk, an exception below its frames.
bool tells_own_end(const Wordings& wordings, const Evidence& e, const std::vector<Line>& lines);

/// Whether an error is one of talking to others, which comes of their death as well.
bool is_about_others(const Wordings& wordings, const Evidence& e);

/// Of a kill that the kernel, the kubelet or a daemon tells of in one file, where each other file tells its own end (a
/// traceback, a refused allocation, that it finished), none of them names the killed process, and nothing in the case
/// says that a process of it was killed, vanished, or was waited for: a process that is killed tells nothing of its
/// end. In one file alone, of the kill of a program that is no run's (a browser, a desktop, a database server), beside
/// the end that the run tells, or its exit code; and in any number of files beside a run's killed process that is named
/// by its number, and is another.
class OtherKills {
 public:
  /// `survived` says of an index of `all` whether the run went on behind that failure. `wordings` and `lines` outlive
  /// it.
  OtherKills(const Wordings& wordings, const std::vector<Evidence>& all, const std::vector<Line>& lines,
             const std::function<bool(std::size_t)>& survived);

  bool operator()(const Evidence& kill) const;

 private:
  bool is_of_a_stranger(const Evidence& kill) const;
  bool is_of_the_run(const Evidence& kill, int file) const;
  bool is_not_who_vanished(const Evidence& kill) const;

  const Wordings& wordings_;
  const std::vector<Line>& lines_;
  bool someone_vanished_ = false;
  std::set<int> files_{};
  std::set<int> ended_{};              ///< Those that tell their own end.
  std::set<int> exited_{};             ///< Those that tell an exit code that is no signal's.
  std::set<std::int64_t> vanished_{};  ///< The numbers of those who are said to have been killed.
  bool is_each_numbered_ = true;       ///< And each of them has one.
};

}  // namespace oomplan::diagnose
