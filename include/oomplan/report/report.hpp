// The answer, collected once into a value; views print it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/estimate/host.hpp"
#include "oomplan/estimate/ranks.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/report/outlook.hpp"
#include "oomplan/survey/lengths.hpp"
#include "oomplan/survey/worlds.hpp"

namespace oomplan {

/// How the question ended; decides the exit code and the first line.
enum class Verdict : std::uint8_t { answered, fits, does_not_fit, usage, invalid, undecided, bug };
inline constexpr std::array<std::string_view, 7> verdict_names{"answered", "fits",      "does_not_fit", "usage",
                                                               "invalid",  "undecided", "bug"};
constexpr std::string_view name_of(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }

/// What is known after an attempt to answer: as much as there was before something stopped it.
struct Findings {
  std::string config{};  ///< The file as the user named it.
  std::string recipe{};  ///< The command that `config`, a model, is taken to be trained by; "" where it is a file.
  std::optional<TrainingPlan> plan{};
  bool versions_assumed = true;  ///< Nobody named a version: the defaults are those of the newest known.
  std::optional<Architecture> architecture{};
  std::optional<Footprint> footprint{};  ///< With its slack and fragmentation where `reserved` is known.
  std::optional<Reserved> reserved{};
  std::vector<Contribution> unknown{};  ///< What unknown_of() says of the footprint.
  std::vector<Fit> fits{};
  std::vector<Lengths> lengths{};    ///< Of each card, where nothing says how long rows are and that alone is open.
  std::vector<Worlds> worlds{};      ///< The same of the number of GPUs.
  std::optional<Outlook> outlook{};  ///< Where it was asked for.
  std::vector<RankAnswer> ranks{};   ///< `footprint` is of the first kind, a fit of the one that needs most.
  std::optional<HostAnswer> host{};  ///< Where it was asked for.
  Diagnostics diagnostics{};
  Verdict verdict = Verdict::answered;
};

/// One fact that the estimate used, and where it came from.
struct Fact {
  std::string name{};  ///< The field of TrainingPlan.
  FactValue value{};
  Origin origin{};
  std::string resolved{};  ///< What the model makes of the value: "bf16" of "checkpoint". Empty where it is as it says.
};

/// Findings and what every view needs of them, worked out once so that no two views can disagree.
struct Report {
  Findings found{};
  std::vector<Fact> facts{};        ///< Of the plan, in its order; those without effect in this plan left out.
  std::vector<PhasePeak> phases{};  ///< For each phase the higher of its peaks over the steps, in the order of phases.
  Diagnostics diagnostics{};        ///< The plan's warnings, then what stopped the answer.
};

Report collect(Findings findings);

/// What the view "text" says beside the verdict, the model and what is left out.
struct TextParts {
  bool phases = false;       ///< The buckets at the highest moment of each phase, and what lies beside the tensors.
  bool largest = false;      ///< The largest tensors at the peak.
  bool assumptions = false;  ///< The facts, and where each came from.
};
inline constexpr TextParts all_parts{true, true, true};

/// Columns of a page that no terminal bounds.
inline constexpr std::size_t usual_width = 100;

/// Lines of the terminal that an answer keeps to.
inline constexpr std::size_t screen_lines = 24;

struct ViewOptions {
  bool colour = false;
  std::size_t width = usual_width;  ///< Columns; 60 at the least.
  bool verdict_only = false;        ///< Of the view "text".
  std::optional<Bucket> bucket{};   ///< For the view "explain".
  TextParts parts{};
  int terse = 0;  ///< How much of the screen is left out, from the least important on; of the view "text".
};

/// The report as the view `name` writes it; nothing where there is no such view. Without a footprint "explain" is
/// empty, and "text" says what there is of the host: the rest of the answer are the diagnostics.
std::optional<std::string> render(const Report& report, std::string_view name, const ViewOptions& options = {});

/// "explain", "json", "text".
std::vector<std::string_view> views();

/// The version of this program ("0.1.0").
std::string_view version();

}  // namespace oomplan
