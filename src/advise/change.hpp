// A set of fixes made of a plan, as the config's framework would read them where its keys can say them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/advise/advise.hpp"
#include "rung.hpp"

namespace oomplan::advise {

/// A fix of the ladder, by its place there.
struct Choice {
  int rung = 0;
  int times = 1;
  friend bool operator==(const Choice&, const Choice&) = default;
};
using Choices = std::vector<Choice>;  ///< In the ladder's order.

struct Change {
  TrainingPlan facts{};   ///< The plan with the fixes' own facts changed; what guards look at.
  TrainingPlan plan{};    ///< What the framework makes of `keys`; `facts` where it has no keys for them.
  std::int64_t rows = 1;  ///< As the config counts them, where it packs them into one.
  std::vector<KeyChange> keys{};
  std::optional<LauncherFile> launcher{};  ///< In the place of the launchers that there are.
  std::vector<std::string> beside{};       ///< What no file says, as overrides of the plan: the run's environment does.
  std::vector<std::string> fixes_beside{};  ///< The ids of the fixes that these are of.
  std::string in_words{};                   ///< Why `keys` is empty.
  bool is_refused = false;                  ///< There are keys, but the framework does not read them as they are meant.

  bool says_beside(const std::string& fix) const { return std::ranges::count(fixes_beside, fix) > 0; }
};

/// Why the set cannot be taken, or what it makes of the plan.
struct Changing {
  std::optional<Change> change{};
  std::string objection{};
};

/// The plan as the config's keys have it: of rows that a batch packs into one, their number and length.
TrainingPlan as_said(const AdviceQuestion& question);

Changing change_by(const Choices& choices, const AdviceQuestion& question, const Ladder& ladder);

/// Whether change_by() has a change, found without reading the config where no fix of it asks for that.
bool can_be_taken(const Choices& choices, const AdviceQuestion& question, const Ladder& ladder);

/// How the question's config is read beside the change's launcher and what else no config says.
IngestOptions options_with(const Change& change, const IngestOptions& options);

/// Whether two plans are one in all that oomplan.yaml writes.
bool same_plan(const TrainingPlan& a, const TrainingPlan& b);

}  // namespace oomplan::advise
