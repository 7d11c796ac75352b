// Everything of rules/, loaded.
#pragma once

#include <string>
#include <vector>

#include "oomplan/evidence.hpp"
#include "prefilter.hpp"
#include "sentence.hpp"

namespace oomplan::diagnose {

/// What to say of a cause: rules/causes.
struct CauseText {
  Cause cause = Cause::not_oom;
  std::string title{};  ///< Completes "this was …".
  std::vector<Fix> to_do{};
  std::vector<Fix> not_to_do{};
  std::vector<std::string> to_prove{};
};

/// How a moment of the run is known, and what it means: rules/moments.
struct MomentText {
  std::string phase{};
  std::string meaning{};
  std::vector<std::string> files{};      ///< Parts of a frame's path.
  std::vector<std::string> functions{};  ///< Whole names of a frame's function.
  std::vector<std::string> code{};       ///< Parts of the source line under a frame.
};

/// What starts jobs and knows how they ended: rules/launchers.
struct LauncherText {
  std::string name{};
  std::vector<std::string> signs{};  ///< Words of a log that it wrote, or that was written under it.
  std::vector<std::string> names{};  ///< What stands before the job's, the pod's or the host's name.
  std::string placeholder{};         ///< For {name} where the log has none.
  std::vector<std::string> ask{};    ///< Commands.
};

struct Rules {
  std::vector<Sentence> sentences{};
  std::vector<CauseText> causes{};
  std::vector<MomentText> moments{};
  std::vector<LauncherText> launchers{};
  Prefilter loud{4};   ///< Anchors of the loud sentences, for whole logs.
  Prefilter every{1};  ///< Anchors of all, for the lines kept.

  const CauseText* find(Cause cause) const;
  const MomentText* find_moment(std::string_view phase) const;
};

}  // namespace oomplan::diagnose
