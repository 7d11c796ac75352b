// From a framework's config to a TrainingPlan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/plan/loader_profile.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {

struct Architecture;

/// Reads a file that a config names; ingest itself opens none. `read_document` is one.
using Loader = std::function<Result<Document>(const std::string& path)>;

/// A version of a package that somebody names.
struct NamedVersion {
  std::string package{};  ///< In lower case, with '-' for '_' and '.'.
  std::string version{};  ///< As written: "5.14.1", "2.13.0+cu130", "5.14".
  Location where{};
  bool asked = false;  ///< By itself, not in a list of all that is installed.
};

/// How many GPUs a run has, as somebody says who starts it.
struct NamedWorld {
  std::int64_t each = 0;  ///< On a machine; 0: nobody says.
  std::int64_t machines = 1;
  std::string said{};  ///< What says so: "--gpu 2x8xh100".
};

struct IngestOptions {
  std::string dialect{};                 ///< "" recognises the dialect from the content.
  std::vector<std::string> overrides{};  ///< "key=value", applied over the file in order; see ingest().
  Loader loader{};                       ///< For `extends:` and `lengths:` that name a file; without it an error.
  std::string trainer{};                 ///< Whose trainer it is, of trainer_names; "" where the file alone says it.
  std::string trainer_said{};            ///< What said so: "--trainer dpo".
  std::vector<std::string> launch{};     ///< Files that start the run: accelerate's launcher config, DeepSpeed's JSON.
  NamedWorld world{};                    ///< Goes before the files, and behind the overrides.
  std::string older_gpu{};               ///< What says that all GPUs are of a compute capability below 8.0: "--gpu t4".
  std::vector<NamedVersion> versions{};  ///< Of frameworks; of two of one package the first counts. Else the newest.
  Diagnostics unread{};                  ///< What could not be read of them.
};

/// Reads the plan out of a document. An override's key is the dialect's own, dotted where it is inside a mapping, or a
/// field of the plan by its name ("plan.padding_mask", or without "plan." where the dialect has no such key); a field
/// changes just that field. All diagnostics are collected. Errors:
///   ingest/bad-value          a value of the wrong type or range
///   ingest/conflict           values that the framework refuses together
///   ingest/ambiguous-trainer  keys of two trainers that exclude each other: cannot be decided
///   ingest/unused-key         a key that sets a length, a batch or a model and that this trainer does not read: as
///   well ingest/missing-fact       a fact is needed that nobody says and that has no default: cannot be decided
///   ingest/unknown-dialect    no dialect knows enough of the keys, or the file is of a kind that is no dialect
///   ingest/ambiguous-dialect  two dialects know as many of the keys
///   ingest/not-a-mapping      the file holds no keys
///   ingest/extends-missing    the config that this one extends cannot be read (and the loader's own errors)
///   ingest/extends-cycle      configs that extend each other
///   ingest/lengths-missing    the file of lengths cannot be read (and the loader's own errors)
///   ingest/bad-override       an override without "=" (its value may give read/… errors too)
///   ingest/unknown-key        an override of a key that nobody knows
/// Warnings, in the plan: ingest/unknown-key (with the nearest name), ingest/renamed-key (read by its new name),
/// ingest/overruled (a file has another number of GPUs than options.world).
/// What affects memory and is not played goes to plan.unmodelled.
Result<TrainingPlan> ingest(const Document& document, const IngestOptions& options = {});

/// The plan with what the config leaves to the model: peft's default LoRA targets, and the attention where transformers
/// has no sdpa for the model; TRL's loss of a mixture's router joins what is unmodelled. Errors: ingest/missing-fact
/// where peft has no default for it, ingest/conflict where sdpa is asked for and missing, ingest/refused where TRL
/// refuses a router's loss of a dense model.
Result<TrainingPlan> with_model_defaults(TrainingPlan plan, const Architecture& model);

/// Whether peft has default LoRA targets for models of this type.
bool has_default_targets(const std::string& model_type);

/// The version of a package that the plan's defaults are of; empty where it has none of it.
std::string framework_version(const TrainingPlan& plan, std::string_view package);

/// The other versions of the plan's framework that were held against runs of it, each the last of its kind, the newest
/// first.
std::vector<NamedVersion> versions_beside(const TrainingPlan& plan);

/// The dialects, by name: "hf", "oomplan", ….
std::vector<std::string_view> dialects();

/// The plan written in a dialect's own keys, so that ingest() of it gives the same plan.
std::string write_plan(const TrainingPlan& plan, std::string_view dialect);

/// The fields of TrainingPlan that are facts, in its order.
std::vector<std::string_view> fact_names();

/// A fact by its name, as oomplan.yaml writes it ("bf16", "[q_proj, v_proj]"); nothing where there is no such fact.
std::optional<std::string> fact_of(const TrainingPlan& plan, std::string_view name);

/// Where it came from; null where there is no such fact. Lives as long as the plan.
const Origin* origin_of_fact(const TrainingPlan& plan, std::string_view name);

/// Sets it as oomplan.yaml would; false where there is no such fact or it takes no such value.
bool set_fact(TrainingPlan& plan, std::string_view name, const Node& value);

/// What `oomplan measure PATH --json` wrote. Errors: ingest/bad-profile (another schema, a failed measurement, one of a
/// command, a key that is missing or out of range).
Result<LoaderProfile> read_loader_profile(const Document& document);

}  // namespace oomplan
