// Many plans at once: a grid of settings, and the gate that configs go through.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/host_check.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/read/document.hpp"
#include "oomplan/survey/gate.hpp"
#include "oomplan/survey/lengths.hpp"
#include "oomplan/survey/other_version.hpp"
#include "oomplan/survey/room.hpp"
#include "oomplan/survey/sweep.hpp"
#include "oomplan/survey/worlds.hpp"

namespace oomplan {

/// "KEY=1..64", "KEY=1024:65536:x2" (times two), "KEY=64:512:+64", "KEY=bf16|fp16", several of them with commas
/// between. Errors: survey/bad-axis; survey/too-many-points where the grid has more than most_points.
Result<std::vector<Axis>> parse_axes(const std::vector<std::string>& texts);

/// A plan's model; the answer lives as long as the finder. Called from several threads.
using ModelFinder = std::function<const Result<Architecture>&(const TrainingPlan& plan)>;

/// What one point comes to.
SweepPoint sweep_point(const Document& document, const IngestOptions& options, const Sweep& sweep, std::size_t i,
                       const ModelFinder& models, const HostCheck& host = {});

/// Why a point has no figure, in full and with its place; empty where it has one.
Diagnostics errors_at(const Document& document, const IngestOptions& options, const Sweep& sweep, std::size_t i,
                      const ModelFinder& models, const HostCheck& host = {});

/// What a config's room on a card is asked of; all outlive the question.
struct RoomQuestion {
  const Document& document;
  const IngestOptions& ingest;
  const TrainingPlan& plan;  ///< As the config is read.
  const Architecture& architecture;
  const Gpu& gpu;
  double headroom = 0;
};

/// The largest micro-batch that fits: bounded by its tensors alone first, then replayed. Nothing where there is no
/// bound, and where a value between cannot be decided.
std::optional<Room> room_of(const RoomQuestion& question);

/// As an override: rows of that many tokens.
std::string with_length(std::int64_t length);

/// The plan with rows of some length, where nothing but how long they are keeps a config from being read; nothing
/// where it is read as it stands, and where more is missing.
std::optional<TrainingPlan> plan_but_for_length(const Document& document, const IngestOptions& options);

/// Which lengths fit, where nobody says one, without points; the question's plan is that of plan_but_for_length().
/// Nothing where one cannot be decided.
std::optional<Lengths> lengths_of(const RoomQuestion& question);

/// What a few lengths need.
std::vector<LengthPoint> length_points(const RoomQuestion& question);

/// The length by which all cards are decided: the longest where every one fits, the shortest where not even that does.
std::optional<std::int64_t> deciding_length(const std::vector<Lengths>& lengths);

/// Marks a plan of the deciding length as such, with the warning estimate/any-length.
void say_deciding_length(bool all_fit, TrainingPlan& plan);

/// The errors of a config whose rows' length is open, each with the lengths that fit.
Diagnostics with_lengths(Diagnostics errors, const std::vector<Lengths>& lengths);

/// The config as it is read, to be held against those cards; where nothing but the rows' length is open, with the
/// length that decides all of them. Where none does, the errors say up to which length rows fit.
Result<TrainingPlan> plan_on(const Document& document, const IngestOptions& options, const std::vector<Gpu>& gpus,
                             double headroom, const ModelFinder& models);

/// As plan_but_for_length(), with some number of GPUs.
std::optional<TrainingPlan> plan_but_for_world(const Document& document, const IngestOptions& options);

/// What the usual numbers of GPUs in a machine need of each; the question's plan is that of plan_but_for_world().
/// Nothing where one cannot be decided.
std::optional<Worlds> worlds_of(const RoomQuestion& question);

/// Two GPUs, short rows of text; eight of them, longer rows with an image each.
enum class UsualNumbers : std::uint8_t { few, many };

/// The plan with such values in the place of every number that a config leaves open (GPUs, the rows' length, images);
/// nothing where it leaves none, and where more is missing.
std::optional<TrainingPlan> plan_but_for_numbers(const Document& document, const IngestOptions& options,
                                                 UsualNumbers which);

/// What other versions make of a config is asked of; all outlive the question.
struct VersionQuestion {
  const Document& document;
  const IngestOptions& ingest;
  const TrainingPlan& plan;  ///< As the config is read.
  const Architecture& architecture;
  Bytes tensors{};           ///< The plan's peak.
  const Gpu* gpu = nullptr;  ///< Or none.
  double headroom = 0;
};

/// Of the versions of its framework whose defaults are known the one that moves the peak most; nothing where none moves
/// it by more than 2 %, and where the question's options name a version of it. Those that refuse the config, or under
/// which it cannot be estimated, do not count.
std::optional<OtherVersion> other_version_of(const VersionQuestion& question);

/// Works out the frontier and the largest, once all points are there.
void find_frontier(Sweep& sweep);

/// A policy out of its file. Errors: survey/bad-policy (an unknown key with the nearest, a value of the wrong type, a
/// rule without a card), catalog/unknown-gpu; each with its place.
Result<Policy> read_policy(const Document& document, const Catalog& catalog);

/// The rule for a config, or null.
const GateRule* rule_for(const Policy& policy, const std::string& config);

/// Warnings survey/idle-pattern: each pattern of the policy that means none of the configs, which may be misspelt.
Diagnostics idle_patterns(const Policy& policy, const std::vector<std::string>& configs);

/// What one config is judged by.
struct GateQuestion {
  std::string config{};
  IngestOptions ingest{};
  ModelFinder models{};
  const Result<Document>* baseline = nullptr;  ///< The former state, or why it cannot be read.
  IngestOptions baseline_ingest{};
  std::string no_baseline{};  ///< Why there is no former state; empty where none was asked for.
  HostCheck host{};
};

/// Judges one config by the policy. An error makes it `invalid`, or `undecided` where `undecidable` holds of the
/// errors; then the policy may allow it, but never what does not fit or is over the budget all the same. A former state
/// that has no peak is such an error where there is a budget to hold the growth to.
GateItem judge(const Policy& policy, const Result<Document>& document, const GateQuestion& question,
               const std::function<bool(const Diagnostics&)>& undecidable);

}  // namespace oomplan
