// Failures that a run went on behind for long: what ended it is told elsewhere, or nowhere.
#pragma once

#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "posts.hpp"

namespace oomplan::diagnose {

/// How its speaker goes on behind a failure, in the same post.
enum class Aftermath : std::uint8_t {
  none,  ///< Not at all, as far as is known: what stands there may have been made before, and written later.
  some,  ///< With five steps and more.
  much,  ///< With fifty, or with what a server answers behind an error that is none of memory; and no launcher names
         ///< the rank that ended: it may be the one that failed, and the others' steps those that are seen.
};

/// For each of `all`, in the order of the lines: of a failure within the program (nobody killed it). Steps have the
/// number of the step, or the loss that was logged. They were made later where the failure is a message of the
/// program's; below frames, where they go on from those before it and have later times, or are more than a buffer
/// holds.
std::vector<Aftermath> aftermaths(const std::vector<Evidence>& all, const std::vector<Line>& lines, const Posts& posts,
                                  const Clocks& clocks);

}  // namespace oomplan::diagnose
