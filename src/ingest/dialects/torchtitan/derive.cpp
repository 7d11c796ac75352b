// torchtitan 0.2.2: torchtitan/config/job_config.py, train.py and models/llama3. What no line of keys.yaml can say of
// its configs.
#include <algorithm>
#include <array>
#include <span>

#include "../../dialect.hpp"
#include "../../sharding_keys.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {
namespace {

const Stack& stack() { return stack_of("torchtitan-0.2"); }

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

/// The text of a key that has but these words; torchtitan stops at any other.
Arg<std::string> word_of(const Arguments& args, std::string_view key, std::span<const std::string_view> words,
                         Draft& draft, const Document& document) {
  Arg<std::string> word = args.get<std::string>(key);
  if (!word.value || std::ranges::count(words, *word.value) > 0) return word;
  std::string expected;
  for (const std::string_view one : words) expected += (expected.empty() ? "one of " : ", ") + std::string(one);
  conflict(draft, word.origin, document, std::string(key) + ": expected " + expected + ", got \"" + *word.value + "\"");
  draft.errors.back().code = "ingest/bad-value";
  draft.bad_keys.emplace_back(key);
  word.value.reset();
  return word;
}

// ---- The model -----------------------------------------------------------------------------------------------------

constexpr auto flavors = std::to_array<std::string_view>(
    {"debugmodel", "debugmodel_flex_attn", "debugmodel_varlen_attn", "8B", "8B_flex", "8B_varlen", "70B", "405B"});

/// models/llama3/__init__.py: llama3_args.
void plan_model(const Arguments& args, Draft& draft, const Document& document) {
  const auto name = args.get<std::string>("model.name");
  Setting<std::string>& planned = draft.plan.model.name;
  if (name.value && *name.value != "llama3") {
    planned = {"torchtitan." + *name.value, name.origin};
    return gap(draft, "torchtitan's model " + *name.value, "model.name", name.origin);
  }
  const auto flavor = word_of(args, "model.flavor", flavors, draft, document);
  const std::string word = flavor.value.value_or("debugmodel");
  const std::string size = word.substr(0, word.find('_'));
  if (flavor.value) {
    planned = {"torchtitan.llama3." + size, flavor.origin};
  } else {
    planned = {"torchtitan.llama3." + size, stack().origin("torchtitan", "job_config.Model")};
  }
  if (size != word) gap(draft, "attention that torch.compile makes", "model.flavor", flavor.origin);
}

// ---- The step ------------------------------------------------------------------------------------------------------

void plan_dtype(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 2> words{"float32", "bfloat16"};
  const auto dtype = word_of(args, "training.dtype", words, draft, document);
  if (!dtype.value) return;
  draft.plan.precision.weights_dtype = {*dtype.value == "float32" ? WeightsDType::fp32 : WeightsDType::bf16,
                                        dtype.origin};
}

/// build_optimizers: Adam and AdamW hold the same.
void plan_optimizer(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 2> names{"Adam", "AdamW"};
  constexpr std::array<std::string_view, 3> ways{"for-loop", "foreach", "fused"};
  constexpr std::array<std::string_view, 3> played{"adamw_for_each", "adamw_foreach", "adamw_fused"};
  word_of(args, "optimizer.name", names, draft, document);
  const auto way = word_of(args, "optimizer.implementation", ways, draft, document);
  if (!way.value) return;
  const auto at = std::ranges::find(ways, *way.value) - ways.begin();
  draft.plan.optimizer.name = {std::string(played.at(static_cast<std::size_t>(at))), way.origin};
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Linear layers of Llama that are asked to be computed again, in place of the router of a mixture (_apply_op_sac).
void check_forced(const Arguments& args, Draft& draft) {
  const char* key = "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns";
  const auto names = args.get<std::vector<std::string>>(key);
  if (!names.value) return;
  const auto is_mixture = [](const std::string& name) { return name.starts_with("moe."); };
  if (!std::ranges::all_of(*names.value, is_mixture)) gap(draft, "products that are computed again", key, names.origin);
}

/// _apply_ac_to_transformer_block
void plan_selective(const Arguments& args, Draft& draft, const Document& document) {
  CheckpointingFacts& checkpointing = draft.plan.checkpointing;
  const auto option = args.get<std::string>("activation_checkpoint.selective_ac_option");
  if (!option.value) return;
  if (*option.value == "op") {
    checkpointing.every = {1, option.origin};
    checkpointing.keeps = {CheckpointKeeps::products, option.origin};
    return check_forced(args, draft);
  }
  const auto every = is_number(*option.value) ? parse_number(*option.value) : std::nullopt;
  constexpr double most = 1'000'000;
  if (!every || *every > most) {
    return conflict(draft, option.origin, document,
                    "torchtitan stops at this activation_checkpoint.selective_ac_option: it is op, or how many layers "
                    "one is checkpointed of");
  }
  checkpointing.every = {std::max<std::int64_t>(1, static_cast<std::int64_t>(*every)), option.origin};
}

void plan_checkpointing(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 4> modes{"selective", "full", "memory_budget", "none"};
  const auto mode = word_of(args, "activation_checkpoint.mode", modes, draft, document);
  CheckpointingFacts& checkpointing = draft.plan.checkpointing;
  if (mode.value) checkpointing.on = {*mode.value != "none", mode.origin};
  if (mode.value.value_or("selective") == "selective") return plan_selective(args, draft, document);
  checkpointing.every = {1, mode.origin};
}

/// A key that its dataclass does not have stops torchtitan (ConfigManager._dict_to_dataclass).
void refuse_unknown(Draft& draft) {
  const auto unknown = [](const Diagnostic& one) { return one.code == "ingest/unknown-key"; };
  for (Diagnostic one : draft.plan.warnings) {
    if (!unknown(one)) continue;
    one.severity = Severity::error;
    one.code = "ingest/refused";
    one.message = "torchtitan 0.2.2 stops at the " + one.message.substr(0, one.message.rfind(','));
    draft.errors.push_back(std::move(one));
  }
  std::erase_if(draft.plan.warnings, unknown);
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  const Arguments args = read_arguments("torchtitan", {}, inputs, draft);
  begin(draft, stack(), args);
  draft.plan.framework = stack().name_of("torchtitan");
  plan_supervised(draft.plan);
  plan_model(args, draft, document);
  plan_dtype(args, draft, document);
  plan_optimizer(args, draft, document);
  plan_checkpointing(args, draft, document);
  if (draft.plan.unmodelled.empty()) refuse_unknown(draft);  // Else a class of its own may have it.
  return draft;
}

// ---- Ranks ---------------------------------------------------------------------------------------------------------

/// ParallelDims: how many groups hold the model, each sharded over how many GPUs, of which so many share each matrix.
struct Degrees {
  Arg<std::int64_t> replicas{};
  Arg<std::int64_t> shards{};
  Arg<std::int64_t> tensor{};

  std::int64_t replicated() const { return replicas.value.value_or(1); }
  std::int64_t sharing() const { return tensor.value.value_or(1); }
  /// The ranks that hold one shard.
  std::int64_t groups() const { return saturating_mul(replicated(), sharing()); }
  /// None where it is as many as are left of the world.
  std::optional<std::int64_t> wanted() const { return shards.value.value_or(-1) < 0 ? std::nullopt : shards.value; }
  const Origin* said() const {
    if (replicas.value && replicated() > 1) return &replicas.origin;
    if (tensor.value && sharing() > 1) return &tensor.origin;
    return wanted() ? &shards.origin : nullptr;
  }
};

/// What the keys say of the number of GPUs, where nothing beside them does. False where that is left open.
bool plan_world(const Degrees& degrees, Draft& draft, const Document& document) {
  Setting<std::int64_t>& world = draft.plan.mesh.world_size;
  if (world.origin.is_said()) return true;
  if (degrees.wanted()) {
    world = {saturating_mul(degrees.groups(), *degrees.wanted()), *degrees.said()};
    return true;
  }
  if (degrees.groups() > 1) {
    need_world(draft, document, "torchtitan");
    return false;
  }
  if (!draft.errors.empty() || !draft.missing.empty()) return true;
  draft.plan.warnings.push_back(
      {Severity::warning,
       "ingest/assumed-trainer",
       "read for one GPU; torchtitan shards over as many as it is started on, which no key says",
       {document.file, 0, 0},
       "on several GPUs each holds less than this: --gpu 8xh100",
       {}});
  return true;
}

/// models/llama3/infra/parallelize.py: apply_tp. Without FSDP beside it nothing casts (maybe_enable_amp).
void share_matrices(const Degrees& degrees, const Arguments& args, Draft& draft) {
  if (degrees.sharing() == 1) return;
  MeshFacts& mesh = draft.plan.mesh;
  mesh.tensor_parallel = {degrees.sharing(), degrees.tensor.origin};
  mesh.sequence_parallel = {true, stack().origin("torchtitan", "apply_tp")};
  const auto whole = args.get<bool>("parallelism.disable_loss_parallel");
  mesh.loss_parallel = {!whole.value.value_or(false),
                        whole.value ? whole.origin : stack().origin("torchtitan", "job_config.Parallelism")};
  draft.plan.precision.autocast = {Autocast::none, stack().origin("torchtitan", "maybe_enable_amp beside TP")};
}

void shard(const Degrees& degrees, std::int64_t shards, Draft& draft) {
  MeshFacts& mesh = draft.plan.mesh;
  mesh.ddp_find_unused.value = false;
  const bool alone = shards == 1 && degrees.replicated() == 1;
  mesh.sharding = {alone ? Sharding::none : Sharding::fsdp2, mesh.world_size.origin};
  if (alone) return;
  if (degrees.replicated() > 1) mesh.fsdp_replicas = {degrees.replicated(), degrees.replicas.origin};
  draft.plan.precision.autocast = {Autocast::none, stack().origin("torchtitan", "maybe_enable_amp beside FSDP")};
  if (shards == 1)
    gap(draft, "DDP by torch's replicate()", "parallelism.data_parallel_replicate_degree", degrees.replicas.origin);
}

/// Trainer.__init__: the global batch over what all ranks take at once.
void plan_accumulation(const Arg<std::int64_t>& all, Draft& draft, const Document& document) {
  if (!all.value || *all.value < 0) return;
  const std::int64_t at_once = saturating_mul(draft.plan.batch.micro_batch_size.value, data_ranks(draft.plan.mesh));
  if (*all.value == 0 || *all.value % at_once != 0) {
    return conflict(draft, all.origin, document,
                    "torchtitan wants a training.global_batch_size that " + std::to_string(at_once) +
                        " divides, the rows that its ranks take at once");
  }
  Setting<std::int64_t>& steps = draft.plan.batch.gradient_accumulation_steps;
  if (steps.origin.kind == Origin::Kind::command_line) return;
  steps = {*all.value / at_once, all.origin};
  derive(steps.origin, "over the " + std::to_string(at_once) + " rows that all ranks take at once");
}

void plan_reshard(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 3> words{"default", "always", "never"};
  constexpr std::array played{Reshard::automatic, Reshard::all, Reshard::never};
  const auto word = word_of(args, "parallelism.fsdp_reshard_after_forward", words, draft, document);
  if (!word.value) return;
  const auto at = std::ranges::find(words, *word.value) - words.begin();
  draft.plan.mesh.fsdp_reshard = {played.at(static_cast<std::size_t>(at)), word.origin};
}

/// Rows of validation are turned by training's table of positions.
void check_validation(Draft& draft, const Document& document) {
  const EvaluationFacts& evaluation = draft.plan.evaluation;
  if (!evaluation.evaluates.value || evaluation.length.value <= draft.plan.batch.sequence_length.value) return;
  conflict(draft, evaluation.evaluates.origin, document,
           "torchtitan stops at rows of " + std::to_string(evaluation.length.value) +
               " tokens in validation, which are longer than training.seq_len");
}

void spread(const Inputs& inputs, const Document& document, Draft& draft) {
  Draft aside;
  const Arguments args = read_arguments("torchtitan", {}, inputs, aside);
  const Degrees degrees{args.get<std::int64_t>("parallelism.data_parallel_replicate_degree"),
                        args.get<std::int64_t>("parallelism.data_parallel_shard_degree"),
                        args.get<std::int64_t>("parallelism.tensor_parallel_degree")};
  check_validation(draft, document);
  plan_reshard(args, draft, document);
  if (!draft.plan.unmodelled.empty() || !plan_world(degrees, draft, document)) return;
  const std::int64_t world = draft.plan.mesh.world_size.value;
  const std::int64_t shards = degrees.wanted().value_or(world / degrees.groups());
  if (shards < 1 || saturating_mul(shards, degrees.groups()) != world) {
    return conflict(draft, *degrees.said(), document,
                    "torchtitan stops: its degrees of parallelism do not make a world of " + std::to_string(world));
  }
  share_matrices(degrees, args, draft);
  if (world > 1) shard(degrees, shards, draft);
  plan_accumulation(args.get<std::int64_t>("training.global_batch_size"), draft, document);
}

// ---- Back to the config --------------------------------------------------------------------------------------------

Said implementation_of(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  if (name == "adamw_fused") return Said("fused");
  if (name == "adamw_foreach") return Said("foreach");
  return name == "adamw_for_each" ? Said("for-loop") : Said();
}

Said dtype_of(const TrainingPlan& plan) {
  const WeightsDType dtype = plan.precision.weights_dtype.value;
  if (dtype == WeightsDType::fp32) return Said("float32");
  return dtype == WeightsDType::bf16 ? Said("bfloat16") : Said();
}

constexpr auto sayings = std::to_array<Saying>({
    {"weights_dtype", "training.dtype", dtype_of},
    {"optimizer", "optimizer.implementation", implementation_of},
    {"gradient_checkpointing", "activation_checkpoint.mode",
     [](const TrainingPlan& p) {
       const bool selective = p.checkpointing.every.value > 1 || p.checkpointing.keeps.value != CheckpointKeeps::inputs;
       return Said(!p.checkpointing.on.value ? "none" : selective ? "selective" : "full");
     }},
    {"gradient_accumulation_steps", "training.global_batch_size",
     [](const TrainingPlan& p) {
       return count_where(
           true, p.batch.micro_batch_size.value * p.batch.gradient_accumulation_steps.value * data_ranks(p.mesh));
     }},
});

// Two of these tell its configs: sections of its TOML that no other framework has, and keys of a file that has but the
// two that others have too.
constexpr auto tells = std::to_array<std::string_view>(
    {"job", "profiling", "metrics", "lr_scheduler", "parallelism", "activation_checkpoint", "quantize", "comm",
     "fault_tolerance", "memory_estimation", "training", "validation", "experimental", "model.flavor",
     "training.seq_len", "training.local_batch_size", "training.global_batch_size"});

}  // namespace

namespace dialects {
extern const Dialect torchtitan;
const Dialect torchtitan{.name = "torchtitan",
                         .about = "torchtitan's TOML",
                         .model_key = "model",
                         .read = read,
                         .sayings = sayings,
                         .tells = tells,
                         .spread = spread};
}  // namespace dialects

}  // namespace oomplan::ingestion
