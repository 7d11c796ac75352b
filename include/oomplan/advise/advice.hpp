// What would make a run fit: the values that the stage advise makes and views print.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/gpu_count.hpp"

namespace oomplan {

/// What a fix does to the result of the training, from nothing to everything.
enum class Science : std::uint8_t { none, batch_statistics, numerics, changes_experiment };
inline constexpr std::array<std::string_view, 4> science_names{"none", "batch_statistics", "numerics",
                                                               "changes_experiment"};
inline constexpr std::size_t science_count = science_names.size();
constexpr std::string_view name_of(Science science) { return science_names[static_cast<std::size_t>(science)]; }

/// What it takes of its user: a line of the config, a package to install, a search for hyperparameters, another setup.
enum class Effort : std::uint8_t { setting, package, retune, redesign };
inline constexpr std::array<std::string_view, 4> effort_names{"setting", "package", "retune", "redesign"};
constexpr std::string_view name_of(Effort effort) { return effort_names[static_cast<std::size_t>(effort)]; }

/// How much slower a step becomes, in per cent; `source` says who measured it.
struct Slowdown {
  int least = 0;
  int most = 0;
  std::string source{};
};

/// One fix, as its file in rules/ladder has it.
struct LadderFix {
  std::string id{};
  std::string title{};
  std::vector<Bucket> relieves{};
  std::optional<Slowdown> slower{};
  Science science = Science::none;
  Effort effort = Effort::setting;
  std::string verify{};  ///< What must be looked at again once it is taken.
  std::string how{};     ///< In words, in the terms of the config's framework; empty where its keys say it.
  std::string source{};  ///< A link.
};

/// A fix taken `times` times: half the micro batch, and half again.
struct Taken {
  std::string id{};
  int times = 1;
  friend bool operator==(const Taken&, const Taken&) = default;
};

/// What a set of fixes costs. Compared from the first field to the last; each further fix adds to it.
struct Cost {
  std::array<int, science_count - 1> science{};  ///< How many change the experiment, numerics, batch statistics.
  int slower = 0;                                ///< Per cent, the worst of each fix added up.
  int effort = 0;                                ///< Of each fix 1 to 4.
  friend std::strong_ordering operator<=>(const Cost&, const Cost&) = default;
};

/// A set of fixes held against the GPU.
struct Trial {
  std::vector<Taken> fixes{};
  Cost cost{};
  Bytes needed{};                    ///< As in Fit.
  ByBucket by_bucket{};              ///< The tensors at the peak.
  std::vector<ByBucket> by_phase{};  ///< The tensors at the highest moment of each phase of each step.
  bool at_least = false;             ///< The tensors alone are too much, so `needed` is a bound from below.
  bool fits = false;                 ///< With the headroom asked for.
  bool fragmentation = false;   ///< It does not fit though its tensors would: what the allocator strands is too much.
  std::string undecided{};      ///< Why there is no figure; empty where there is one.
  std::vector<HostFit> host{};  ///< The limits that were asked for, where the GPU has room.
};

/// A fix that was not tried, and why.
struct Passed {
  std::string id{};
  std::string title{};
  std::string why{};
  bool unneeded = false;  ///< The plan is none for it: there is nothing that it could change.
};

/// A fact of the plan before and after, as oomplan.yaml writes it.
struct Changed {
  std::string fact{};
  std::string before{};
  std::string after{};
};

/// A key of the user's config and the value that it gets, as YAML. Dotted where it is inside a mapping.
struct KeyChange {
  std::string key{};
  std::string value{};
};

/// A launcher's config, which a fix needs beside the user's: a new file, and its text.
struct LauncherFile {
  std::string name{};
  std::string text{};
  friend bool operator==(const LauncherFile&, const LauncherFile&) = default;
};

/// A lever saves a fiftieth at the least, of the tensors and of what is needed.
inline constexpr std::int64_t worth_a_line = 50;

/// The fix that by itself, taken once, brings a plan's tensors down most and leaves its results what they are.
struct Lever {
  LadderFix fix{};
  Trial trial{};
};

/// Another set that fits, which somebody may prefer to the cheapest.
struct Alternative {
  std::string name{};  ///< Why: "keeps bf16", "fastest", "on 4 GPUs".
  Trial trial{};
  std::vector<LadderFix> taken{};  ///< The fixes of `trial`.
};

struct Advice {
  std::string config{};           ///< The file as its user named it.
  GpuCount count{};               ///< Of the GPUs that each answer is for.
  std::string assumed_trainer{};  ///< As assumed_trainer() has it; empty where something says whose trainer it is.
  Gpu gpu{};
  double headroom = 0;             ///< Of gpu.total, 0 to 1.
  Trial now{};                     ///< The plan as it is.
  std::vector<Trial> tried{};      ///< Each fix by itself, taken as often as it takes to fit.
  std::vector<LadderFix> rungs{};  ///< The fix of each of `tried`.
  std::optional<Trial> found{};    ///< The cheapest set that fits; nothing where the plan fits, or no set does. Where
                                   ///< `whole` is false, one that fits: a cheaper one may.
  std::optional<Trial> lowest{};   ///< Where none fits, a set that needs about the least, if that is less.
  std::vector<Trial> steps{};      ///< `found` from its first fix to all of them.
  std::vector<LadderFix> taken{};  ///< The fixes of `found`.
  std::vector<Alternative> alternatives{};  ///< None of them `found`, and no two the same.
  std::vector<Gpu> larger{};                ///< The smallest known cards that hold the plan as it is.
  std::vector<Changed> changes{};
  std::vector<KeyChange> keys{};  ///< What to write into the config; empty where it has to be said in words.
  std::optional<LauncherFile>
      launcher{};                     ///< What `accelerate launch --config_file` then takes, where `found` has one.
  std::vector<Passed> passed{};       ///< Left out of the walk.
  std::vector<LadderFix> unplayed{};  ///< Fixes whose effect is not estimated.
  std::int64_t sets = 0;              ///< How many were looked at.
  bool whole = true;                  ///< False: there are too many sets, and only the cheapest `sets` were looked at.
  std::string patch{};                ///< A unified diff of the user's file and `launcher`; empty where there is none.
  std::vector<std::string> beside{};  ///< What to do beside the patch, in words: what no file says.
  std::string no_patch{};             ///< Why not.
};

}  // namespace oomplan
