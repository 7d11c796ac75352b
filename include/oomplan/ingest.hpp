// From a framework's config to a TrainingPlan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/document.hpp"
#include "oomplan/fact_table.hpp"
#include "oomplan/loader_profile.hpp"
#include "oomplan/plan.hpp"
#include "oomplan/result.hpp"

namespace oomplan {

/// Reads a file that a config names; ingest itself opens none. `read_document` is one.
using Loader = std::function<Result<Document>(const std::string& path)>;

struct IngestOptions {
  std::string dialect{};                 ///< "" recognises the dialect from the content.
  std::vector<std::string> overrides{};  ///< "key=value", applied over the file in order; see ingest().
  Loader loader{};                       ///< For `extends:` and `lengths:` that name a file; without it an error.
  std::string trainer{};                 ///< Whose trainer it is, of trainer_names; "" where the file alone says it.
  std::string trainer_said{};            ///< What said so: "--trainer dpo".
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
/// Warnings, in the plan: ingest/unknown-key (with the nearest name), ingest/renamed-key (read by its new name).
/// What affects memory and is not played goes to plan.unmodelled.
Result<TrainingPlan> ingest(const Document& document, const IngestOptions& options = {});

/// The plan with what depends on the model: peft's default LoRA targets, and what TRL refuses of it. `model_type` as in config.json.
/// Error: ingest/missing-fact where peft has no default for it.
Result<TrainingPlan> with_model(TrainingPlan plan, const std::string& model_type);

/// The dialects, by name.
std::vector<std::string_view> dialects();

/// The plan written in a dialect's own keys, so that ingest() of it gives the same plan.
std::string write_plan(const TrainingPlan& plan, std::string_view dialect);

/// A key of a config and its value, as YAML has it.
struct KeyValue {
  std::string key{};  ///< Dotted where it is inside a mapping.
  std::string value{};
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

/// The keys that say these facts of `after`, where they say something else than of `before`: in the plan's dialect,
/// each by the name that the config has for it. Empty where the dialect has none.
std::vector<KeyValue> keys_for(const std::vector<std::string>& facts, const TrainingPlan& before,
                               const TrainingPlan& after, const Document& document);

/// How a config of this dialect asks for a fix of rules/ladder that no fact says, in words; empty where it has none.
std::string_view words_for_fix(std::string_view fix, std::string_view dialect);

/// The dialect's key that says the fact as it stands; nothing where it has none.
std::optional<std::string> key_of_fact(std::string_view fact, const std::string& dialect);

/// What `oomplan measure PATH --json` wrote. Errors: ingest/bad-profile (another schema, a failed measurement, one of a
/// command, a key that is missing or out of range).
Result<LoaderProfile> read_loader_profile(const Document& document);

}  // namespace oomplan
