// Everything of rules/, loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"
#include "prefilter.hpp"
#include "sentence.hpp"
#include "wording.hpp"

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
  std::string phase{};            ///< As the estimator names it, where it plays that phase.
  std::optional<Phase> played{};  ///< That one, or the one that it is part of.
  int order = 0;                  ///< Of two that the same traceback tells, the lower one counts.
  bool host_memory_peaks = false;
  std::string meaning{};
  std::vector<std::string> files{};      ///< Parts of a frame's path.
  std::vector<std::string> functions{};  ///< Whole names of a frame's function.
  std::vector<std::string> code{};       ///< Parts of the source line under a frame.
};

/// What starts jobs and knows how they ended: rules/launchers.
struct LauncherText {
  std::string name{};
  /// Words of a log that it wrote, or that was written under it. None: it stands for no launcher.
  std::vector<std::string> signs{};
  std::vector<std::string> names{};  ///< What stands before the job's, the pod's or the host's name.
  std::string placeholder{};         ///< For {name} where the log has none.
  std::vector<std::string> ask{};    ///< Commands.
  bool alone = false;                ///< What would decide elsewhere does not exist there.
};

/// What fits a moment, a framework or a launcher: rules/advice.
struct AdviceText {
  std::string name{};  ///< Of its file.
  std::vector<std::string> causes{};
  std::vector<std::string> phases{};    ///< Empty for any.
  std::vector<std::string> findings{};  ///< All of them must be there.
  std::vector<std::string> families{};  ///< Of the root; or
  std::vector<std::string> signs{};     ///< words of the log.
  std::vector<std::string> beside{};    ///< Words one of which must be in the log as well.
  std::vector<std::string> unless{};    ///< Words none of which may be in the log.
  std::vector<std::string> without{};   ///< Words none of which may be in the log; it then replaces the cause's alone.
  std::optional<std::int64_t> request_below{};  ///< Bytes: a request that is known must be smaller.
  bool replaces = false;                        ///< What the cause alone advises is of no use here.
  std::vector<Fix> to_do{};
  std::vector<Fix> not_to_do{};                                             ///< Said before the cause's own.
  std::vector<std::string> first{};                                         ///< Ids that lead.
  std::vector<std::string> drops{};                                         ///< Ids that do not help here.
  std::vector<std::string> to_prove{};                                      ///< In place of the cause's own commands.
  std::vector<std::pair<std::string, std::vector<std::string>>> already{};  ///< By id, words that show that it is on;
  std::vector<std::pair<std::string, std::vector<std::string>>> set{};      ///< settings that do: "name value|value".
};

/// What a log itself advises, and whether that fits: rules/suggestions.
struct SuggestionText {
  struct Case {
    std::vector<std::string> causes{};
    std::string unless_advised{};
    bool fits = false;
    std::string text{};  ///< Has {unallocated}, or a fact's name, in braces; not said where that is not known.
  };
  std::vector<std::string> hints{};  ///< The ids of sentences; or
  std::vector<std::string> words{};  ///< words of the log.
  std::string says{};                ///< Completes "the log suggests …".
  std::vector<Case> judged{};        ///< The first that applies counts.
};

struct Rules {
  std::vector<Sentence> sentences{};
  std::vector<CauseText> causes{};
  std::vector<MomentText> moments{};
  std::vector<LauncherText> launchers{};
  std::vector<AdviceText> advice{};
  std::vector<SuggestionText> suggestions{};
  std::vector<std::string> fixes{};               ///< The ids of rules/ladder.
  std::vector<std::string> actions{};             ///< The ids of rules/actions.
  std::vector<std::vector<std::string>> alike{};  ///< Ids of one measure under several names: rules/alike.
  Wordings wordings{};                            ///< What tells texts and programs apart: rules/wording.
  Prefilter loud{4};                              ///< Anchors of the loud sentences, for whole logs.
  Prefilter every{1};                             ///< Anchors of all, for the lines kept.
  std::vector<bool> deadly{};                     ///< By sentence: what a run may have died of.
  std::vector<bool> numbered{};  ///< By sentence: it ends in an exit code or a signal, which tells it apart.

  const CauseText* find(Cause cause) const;
  const MomentText* find_moment(std::string_view phase) const;
  /// Whether the id is the ladder's; an action's else.
  bool is_fix(std::string_view id) const;
  /// Whether the two are one measure, so that who advises one cannot advise against the other.
  bool are_alike(std::string_view a, std::string_view b) const;
};

/// What names a fix, an action or a phase that nothing declares; and what is declared twice.
Diagnostics undeclared(const Rules& rules);

}  // namespace oomplan::diagnose
