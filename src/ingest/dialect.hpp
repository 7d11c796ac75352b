// What a dialect is: one framework's config, read into a plan and written from one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "saying.hpp"
#include "stack.hpp"

namespace oomplan {
struct Architecture;
}

namespace oomplan::ingestion {

/// A fact that is needed, that the config does not give, and that no framework has a default for.
struct Missing {
  std::string field{};  ///< The plan's name of it.
  Diagnostic error{};
};

/// A plan in the making.
struct Draft {
  TrainingPlan plan{};
  Diagnostics errors{};
  std::vector<Missing> missing{};
  std::vector<std::string> bad_keys{};
  Arg<Choice> zero_bf16{};  ///< bf16.enabled of DeepSpeed's JSON, where that plans the ranks.
  Arg<Choice> zero_fp16{};
  Arg<std::int64_t> zero_batch{};  ///< train_batch_size of it.
  bool worker_a_rank = false;      ///< The default of a loader's workers is as many as ranks.
};

/// How a framework reads a config's own `fsdp` and `fsdp_config`. The defaults are those of transformers'
/// TrainingArguments, which differ from those of accelerate's launcher.
struct OwnFsdp {
  std::int64_t version = 2;                  ///< Where none is given.
  std::string_view offload = "cpu_offload";  ///< What its field is called that keeps parameters on the host.
  std::span<const std::string_view>
      fields{};                     ///< Of fsdp_config; what else stands there is dropped. Empty: no field is.
  std::string_view needs_config{};  ///< Why it stops at `fsdp` alone, while fsdp_config alone asks for FSDP.
  bool version_beside = false;      ///< `fsdp_version` goes before the version in fsdp_config.
  bool has_groups = false;          ///< dp_replicate_size and dp_shard_size are the world.
  ShardUnits units = ShardUnits::accelerate;  ///< Of version 2.
};

/// How a framework's scripts are read.
struct ScriptForm {
  bool (*is)(const Document& script) = nullptr;              ///< Whether a script is one of this framework.
  Result<Node> (*config)(const Document& script) = nullptr;  ///< Its keys, a mapping.
};

struct Dialect {
  std::string_view name{};
  std::string_view about{};
  std::string_view model_key{};  ///< What names the model.
  Draft (*read)(const Inputs& inputs, const Document& document) = nullptr;
  std::span<const Feature> features{};
  std::span<const Saying> sayings{};
  /// Where its keys are also another's: two of these tell a config of it, and without them it is none. Dotted
  /// where they are inside a mapping.
  std::span<const std::string_view> tells{};
  bool plain = false;                 ///< Its keys are the facts by their names; it has no keys.yaml.
  bool sets_mixed_precision = false;  ///< Tells accelerate itself, over what a launcher says.
  bool shards = false;                ///< Its recipes for several GPUs share the model by fully_shard.
  const OwnFsdp* fsdp = nullptr;      ///< How its fsdp and fsdp_config are read; none: they are not played.
  /// What its framework changes of the plan by the model that it loads, or why it refuses that; none: nothing.
  std::optional<Diagnostic> (*adapt_to_model)(TrainingPlan& plan, const Architecture& model) = nullptr;
  /// What follows for its trainers from a model that the checkpoint has quantized, or why it refuses that; the plan has
  /// the checkpoint's quantization by then, `asked` being the config's own. None: such models are not played.
  std::optional<Diagnostic> (*take_quantized)(TrainingPlan& plan, Quantization asked) = nullptr;
  const ScriptForm* of_script = nullptr;  ///< Its configs are scripts; none: they are files.
  /// What follows from how many ranks there are, once that is known; none: nothing that other dialects do not have too.
  void (*spread)(const Inputs& inputs, const Document& document, Draft& draft) = nullptr;

  std::vector<std::string_view> keys() const;
  bool has(std::string_view key) const;
};

/// All of them, in the order of names.
std::span<const Dialect* const> registry();
const Dialect* find_dialect(std::string_view name);

/// The origin of what nobody said.
Origin assumed(std::string_view source);

/// Says how the fact follows from what its origin names.
void derive(Origin& origin, std::string_view how);
/// Makes of the rows of a batch one as long as all of them; `packing` is what asks for that, `rows_key` the framework's
/// key for their number.
void pack_rows(TrainingPlan& plan, const Origin& packing, std::string_view rows_key);
/// The length, rounded up.
std::int64_t padded_to(std::int64_t length, std::int64_t multiple);
/// Rounds the rows' length up.
void pad_rows(TrainingPlan& plan, std::int64_t multiple);

/// The argument where it was given, else what the setting is by default.
template <class T>
void give(Setting<T>& to, const Arg<T>& arg) {
  if (arg.value) to = {*arg.value, arg.origin};
}

/// The argument as a setting; where it was left out, the default.
template <class T>
Setting<T> setting(const Arg<T>& arg, T otherwise, const Origin& source) {
  if (arg.value) return {*arg.value, arg.origin};
  return {std::move(otherwise), source};
}

/// Begins with the defaults of the stack, over which come the facts that keys say as they stand.
void begin(Draft& draft, const Stack& stack, const Arguments& arguments);

/// Notes each fact that neither the config nor the stack has set, and that nothing has been said about yet. A dialect
/// that is not plain says it itself where a key of its own cannot be read.
void complete(bool plain, Draft& draft, const Document& document);

/// Language modelling, which a trainer does that has no other recipe.
void plan_supervised(TrainingPlan& plan);

/// Moves what reading found into the draft.
void take(Draft& draft, Findings&& findings);

/// Reads the keys of the dialect's keys.yaml and of `features`; what is no argument goes to the draft.
Arguments read_arguments(std::string_view dialect, std::span<const Feature> features, const Inputs& inputs,
                         Draft& draft);

/// Notes a needed fact that is not there: `field` of the plan. Not where one of `keys`, which would give it, has a
/// value that cannot be read: that has been said.
void miss(Draft& draft, const Document& document, std::string_view field, std::initializer_list<std::string_view> keys,
          const std::string& message, const std::string& hint);

/// accelerate's own number of micro-batches a step: transformers' Trainer takes it where its own is 1, and refuses it
/// beside a larger one.
void accumulate(const Arg<std::int64_t>& steps, Draft& draft, const Document& document);

/// Refuses fp16 weights that are all trained under the Trainer's fp16 autocast, whose gradient scaler takes no
/// gradients in fp16 (torch/amp/grad_scaler.py: unscale_).
void refuse_scaled_half(Draft& draft, const Document& document);

/// Values that are well formed one by one and that the framework refuses together.
void conflict(Draft& draft, const Origin& at, const Document& document, std::string message);

}  // namespace oomplan::ingestion
