#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/ranks.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::oracle {
namespace {

using nlohmann::json;

const std::map<std::string, Phase> phases{{"fwd", Phase::forward},
                                          {"loss", Phase::loss},
                                          {"bwd", Phase::backward},
                                          {"opt", Phase::optimizer_step},
                                          {"between", Phase::between}};

json load(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return json::parse(in);
}

/// Options of a case that no plan expresses and that change what is allocated.
std::string unsupported_option(const json& c) {
  if (!c.value("train_mode", true)) return "train_mode";
  const std::string parallel = c.value("parallel", "none");
  constexpr std::array<std::string_view, 7> played{"none", "ddp", "fsdp2", "fsdp1", "deepspeed", "tp", "pp"};
  if (std::ranges::find(played, parallel) == played.end()) return parallel;
  // What torch can do and no fact says.
  if (c.value("rank", 0) != 0 && parallel != "pp") return "rank";
  if (c.value("units", "blocks") != "blocks") return "units";
  if (c.value("is_last_backward_flag", false)) return "is_last_backward_flag";
  if (c.value("steps", 2) != 2 && parallel != "deepspeed") return "steps";
  return "";
}

/// A model that was measured with another head than that of its family here.
std::string unsupported_head(const json& model) {
  const std::string arch = model.value("arch", "causal");
  constexpr std::array<std::string_view, 16> known{"causal", "mlm",  "seqcls", "tokcls",  "seq2seq", "vlm",
                                                   "alm",    "qa",   "speech", "image",   "seg",     "audiocls",
                                                   "ctc",    "dual", "mc",     "denoiser"};
  return std::ranges::count(known, arch) > 0 ? "" : "arch " + arch;
}

HeadKind head_of(const json& model) {
  const std::string arch = model.value("arch", "causal");
  const bool of_pictures = arch == "image" && model.at("config").value("model_type", "") == "segformer";
  return of_pictures        ? HeadKind::image_classifier
         : arch == "seqcls" ? HeadKind::sequence_classifier
         : arch == "tokcls" ? HeadKind::token_classifier
         : arch == "qa"     ? HeadKind::question_answering
         : arch == "mc"     ? HeadKind::multiple_choice
                            : HeadKind::language_model;
}

std::string optimizer_of(const std::string& name) {
  static const std::map<std::string, std::string> names{{"adamw", "adamw_foreach"},
                                                        {"adamw_foreach", "adamw_foreach"},
                                                        {"adamw_forloop", "adamw_for_each"},
                                                        {"adamw_fused", "adamw_fused"},
                                                        {"adamw8bit", "adamw_8bit"}};
  const auto at = names.find(name);
  return at == names.end() ? name : at->second;
}

/// A list of names, or one name for many ("all-linear").
std::vector<std::string> targets_of(const json& c) {
  const json targets = c.value("lora_targets", json({"q_proj", "v_proj"}));
  if (targets.is_string()) return {targets.get<std::string>()};
  return targets.get<std::vector<std::string>>();
}

/// The cases' parts of names of modules that are not quantised, as transformers' llm_int8_skip_modules says them.
std::vector<std::string> unquantized_of(const json& c) {
  std::vector<std::string> out;
  for (const std::string& part : c.value("quant_skip", std::vector<std::string>())) out.push_back(".*" + part + ".*");
  if (!out.empty()) out.emplace_back("lm_head");
  return out;
}

ExpertsImplementation experts_of(const std::string& name) {
  return static_cast<ExpertsImplementation>(std::ranges::find(experts_names, name) - experts_names.begin());
}

MixedDType mixed(const json& c, const char* key, const char* otherwise) {
  static const std::map<std::string, MixedDType> names{{"none", MixedDType::as_held},
                                                       {"fp32", MixedDType::fp32},
                                                       {"bf16", MixedDType::bf16},
                                                       {"fp16", MixedDType::fp16}};
  return names.at(c.value(key, otherwise));
}

/// reshard_after_forward as fully_shard takes it: None, a bool or a number of ranks.
void read_reshard(const json& c, MeshFacts& mesh) {
  const json reshard = c.value("reshard", json("default"));
  if (reshard.is_boolean()) mesh.fsdp_reshard.value = reshard.get<bool>() ? Reshard::all : Reshard::never;
  if (!reshard.is_number()) return;
  mesh.fsdp_reshard.value = Reshard::smaller;
  mesh.fsdp_reshard_ranks.value = reshard.get<std::int64_t>();
}

/// FSDP1's sharding_strategy and backward_prefetch.
void read_fsdp1(const json& c, MeshFacts& mesh) {
  const bool keeps = c.value("strategy", "FULL_SHARD") == "SHARD_GRAD_OP";
  mesh.fsdp_reshard.value = keeps ? Reshard::never : Reshard::automatic;
  const std::string prefetch = c.value("backward_prefetch", "BACKWARD_PRE");
  mesh.fsdp_prefetch.value = prefetch == "BACKWARD_PRE"    ? BackwardPrefetch::pre
                             : prefetch == "BACKWARD_POST" ? BackwardPrefetch::post
                                                           : BackwardPrefetch::none;
  mesh.fsdp_orig_params.value = c.value("use_orig_params", true);
}

/// DeepSpeed's JSON under `zero`, with an optimizer of one group.
void read_zero(const json& c, MeshFacts& mesh) {
  const std::int64_t stage = c.at("zero_stage");
  mesh.sharding.value = stage == 1 ? Sharding::zero1 : stage == 2 ? Sharding::zero2 : Sharding::zero3;
  const json zero = c.value("zero", json::object());
  const auto elements = [&](const char* key, double otherwise) {
    return static_cast<std::int64_t>(zero.value(key, otherwise));
  };
  mesh.zero_dtype.value = mixed(c, "ds_dtype", "bf16");
  mesh.zero_decay_groups.value = false;
  mesh.zero_reduce_bucket.value = elements("reduce_bucket_size", 5e8);
  mesh.zero_overlap.value = zero.value("overlap_comm", stage == 3);
  mesh.zero_contiguous.value = zero.value("contiguous_gradients", true);
  mesh.zero_reduce_scatter.value = zero.value("reduce_scatter", true);
  mesh.zero_round_robin.value = zero.value("round_robin_gradients", false);
  mesh.zero_prefetch.value = elements("stage3_prefetch_bucket_size", 5e7);
  mesh.zero_persistence.value = elements("stage3_param_persistence_threshold", 1e5);
  mesh.zero_model_persistence.value = elements("stage3_model_persistence_threshold", 0);
  mesh.zero_max_live.value = elements("stage3_max_live_parameters", 1e9);
  mesh.zero_max_reuse.value = elements("stage3_max_reuse_distance", 1e9);
  mesh.zero_sub_group.value = elements("sub_group_size", 1e9);
}

Sharding sharding_of(const std::string& parallel) {
  return parallel == "fsdp1"   ? Sharding::fsdp1
         : parallel == "fsdp2" ? Sharding::fsdp2
         : parallel == "ddp"   ? Sharding::ddp
                               : Sharding::none;
}

/// One stage a rank or several, each within ranks that share its data (`dp`, `dp_kind`).
void read_pipeline(const json& c, MeshFacts& mesh) {
  static const std::map<std::string, PipelineSchedule> names{{"GPipe", PipelineSchedule::gpipe},
                                                             {"1F1B", PipelineSchedule::one_f_one_b},
                                                             {"LoopedBFS", PipelineSchedule::looped_bfs},
                                                             {"Interleaved1F1B", PipelineSchedule::interleaved},
                                                             {"InterleavedZeroBubble", PipelineSchedule::zero_bubble},
                                                             {"ZBVZeroBubble", PipelineSchedule::zbv}};
  mesh.sharding.value = sharding_of(c.value("dp_kind", "none"));
  mesh.pipeline_parallel.value = c.at("world").get<std::int64_t>() / c.value("dp", 1) / c.value("tp", 1);
  mesh.pipeline_schedule.value = names.at(c.value("schedule", "1F1B"));
  mesh.pipeline_stages.value = c.value("virtual", 1);
  mesh.pipeline_micro_batches.value = c.value("micro_batches", 8);
  mesh.pipeline_outputs.value = c.value("return_outputs", true);
}

/// The fields of a rank of a world (parallel, world …), and their defaults there.
void read_mesh(const json& c, TrainingPlan& p) {
  MeshFacts& mesh = p.mesh;
  mesh.sharding.value = sharding_of(c.at("parallel"));
  mesh.world_size.value = c.value("world", 8);
  mesh.tensor_parallel.value = c.at("parallel") == "tp" ? mesh.world_size.value : c.value("tp", 1);
  mesh.sequence_parallel.value = c.value("sequence_parallel", false);
  mesh.loss_parallel.value = c.value("loss_parallel", false);
  if (mesh.tensor_parallel.value > 1) p.recipe.loss.value = Loss::summed_logits;  // Made of what the model returns.
  mesh.sync_each.value = !c.value("no_sync", false);
  mesh.ddp_bucket_mib.value = c.value("bucket_cap_mb", 25);
  mesh.ddp_bucket_views.value = c.value("bucket_view", false);
  mesh.ddp_find_unused.value = c.value("find_unused", false);
  mesh.fsdp_replicas.value = c.value("hsdp_replicate", 1);
  mesh.fsdp_reshard_unreduced.value = c.value("reshard_after_backward", true);
  mesh.fsdp_param_dtype.value = mixed(c, "mp_param", "bf16");
  mesh.fsdp_reduce_dtype.value = mixed(c, "mp_reduce", "fp32");
  mesh.fsdp_output_dtype.value = mixed(c, "mp_output", "none");
  mesh.fsdp_offload.value = c.value("cpu_offload", false);
  read_reshard(c, mesh);
  if (c.at("parallel") == "pp") read_pipeline(c, mesh);
  if (mesh.sharding.value == Sharding::fsdp1) read_fsdp1(c, mesh);
  if (c.at("parallel") == "deepspeed") {
    read_zero(c, mesh);
    p.optimizer.name.value = "adamw_fused";  // Whatever a case names.
  }
  p.precision.backward_in_autocast.value = p.precision.autocast.value != Autocast::none;
  const std::string held = c.value("param_dtype", "fp32");
  p.precision.weights_dtype.value = held == "bf16" ? WeightsDType::bf16 : WeightsDType::fp32;
  mesh.pipeline_parallel.value = std::max<std::int64_t>(mesh.pipeline_parallel.value, 1);
  if (!c.contains("lora") || c.at("lora").is_null()) return;
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = c.at("lora");
  p.adapter.targets.value = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"};
  if (c.contains("lora_targets")) p.adapter.targets.value = c.at("lora_targets").get<std::vector<std::string>>();
  p.adapter.dtype.value = c.value("lora_dtype", "bf16") == "fp32" ? AdapterDType::fp32 : AdapterDType::bf16;
}

/// Images as the cases' processors hand them on: in the model's own type.
void read_images(const json& c, ImageFacts& images) {
  images.count.value = c.value("images", 0);
  const json pixels = c.value("image_hw", json({0, 0}));
  constexpr int patch = 16;  // Of Gemma 4, whose cases count in patches.
  images.height.value = c.contains("patch_h") ? json(c.at("patch_h").get<int>() * patch) : pixels.at(0);
  images.width.value = c.contains("patch_w") ? json(c.at("patch_w").get<int>() * patch) : pixels.at(1);
  const json side = c.value("image_size", json());
  if (side.is_number()) images.height.value = images.width.value = side;
  if (side.is_array()) {
    images.height.value = side.at(0);
    images.width.value = side.at(1);
  }
  images.clips.value = c.value("audios", 0);
  images.clip_milliseconds.value = c.value("clip_ms", 0);
  images.tiles.value = c.value("tiles", c.value("own_size", false) ? 0 : 1);
  images.token_types.value = c.value("token_types", true);
}

TrainingPlan plan_of(const json& c) {
  TrainingPlan p;
  const std::string precision = c.value("precision", "bf16_pure");
  const std::string method = c.value("method", "full");
  p.batch.micro_batch_size.value = c.value("micro_batch", 1);
  p.batch.sequence_length.value = c.value("seq_len", 128);
  if (c.contains("samples")) p.batch.sequence_length.value = c.at("samples");
  p.model.choices.value = c.value("choices", 0);
  p.batch.target_length.value = c.value("tgt_len", c.contains("samples") ? 64 : 0);
  p.batch.gradient_accumulation_steps.value = c.value("grad_accum", 1);
  const bool bf16_base = precision == "bf16_pure" || c.value("base_bf16", false);
  p.precision.weights_dtype.value = bf16_base ? WeightsDType::bf16 : WeightsDType::fp32;
  p.precision.autocast.value = precision == "amp_bf16" ? Autocast::bf16 : Autocast::none;
  p.adapter.kind.value = method == "full" ? Adapter::none : Adapter::lora;
  p.adapter.rank.value = c.value("lora_r", 16);
  p.adapter.targets.value = targets_of(c);
  for (const int layer : c.value("lora_layers", std::vector<int>()))
    p.adapter.layers.value.push_back(std::to_string(layer));
  if (c.contains("lora_layers_pattern")) {
    const auto& names = c.at("lora_layers_pattern");
    p.adapter.layers_pattern.value =
        names.is_string() ? std::vector<std::string>{names} : names.get<std::vector<std::string>>();
  }
  p.adapter.dropout.value = c.value("lora_dropout", 0.0);
  p.adapter.dtype.value = c.value("adapter_fp32", true) ? AdapterDType::fp32 : AdapterDType::as_base;
  p.quantization.kind.value = method == "qlora" ? Quantization::nf4 : Quantization::none;
  p.quantization.skipped.value = unquantized_of(c);
  p.quantization.double_quantization.value = c.value("double_quant", true);
  p.quantization.compute_dtype.value = DType::bf16;
  p.quantization.linear.value = QuantizedLinear::torch_linear;
  p.optimizer.name.value = optimizer_of(c.value("optimizer", "adamw"));
  p.optimizer.clip_gradients.value = c.value("clip_grad", false);
  p.checkpointing.on.value = c.value("gradient_checkpointing", false);
  p.checkpointing.reentrant.value = c.value("use_reentrant", false);
  p.checkpointing.early_stop.value = true;
  if (c.value("ckpt_every", 0) != 0) {
    p.checkpointing.on.value = p.checkpointing.wrapped.value = true;
    p.checkpointing.every.value = c.at("ckpt_every");
    p.checkpointing.place.value = CheckpointPlace::first;
  }
  const std::string attention = c.value("attention", "sdpa");
  p.kernels.attention.value = attention == "sdpa" ? Attention::sdpa : Attention::eager;
  // What transformers takes of a model whose language model alone has no sdpa, where nothing is asked for.
  if (attention == "unasked") p.kernels.attention.origin.kind = Origin::Kind::framework_default;
  p.kernels.older_gpu.value = c.value("older_gpu", false);
  p.kernels.experts.value = experts_of(c.value("experts", "grouped_mm"));
  p.kernels.routing.value = Routing::balanced;  // As the cases assume it.
  const bool older = c.value("peft", "0.21.2") == "0.19.1";
  p.adapter.update.value = older ? ParameterUpdate::summed : ParameterUpdate::folded;
  p.recipe.outputs_kept.value = !c.value("del_out", false);
  p.optimizer.set_grads_to_none.value = c.value("set_to_none", true);
  p.batch.mask_sent.value = c.contains("attention_mask");
  // One of ones changes nothing: transformers looks and drops it.
  p.batch.padding_mask.value = c.value("attention_mask", "") == "padded";
  p.batch.padding_mask.origin.kind = Origin::Kind::config;  // The rows did differ.
  p.recipe.use_cache.value = c.value("use_cache", false);
  p.recipe.trainer.value = c.value("trainer", std::string());
  p.recipe.frozen.value = c.value("freeze", std::vector<std::string>{});
  read_images(c, p.images);
  if (c.contains("parallel")) read_mesh(c, p);
  return p;
}

std::string joined(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& d : errors) text += (text.empty() ? "" : "; ") + d.message;
  return text;
}

Result<Architecture> architecture_from(const json& config, const std::string& name, const Catalog& catalog = {}) {
  const auto document = parse_document(config.dump(), name, Syntax::json);
  return document ? architecture_of(*document, catalog) : Result<Architecture>(document.errors());
}

Truth truth_of(const json& result) {
  Truth t;
  t.peak = result.at("peak");
  t.peak_phase = result.at("peak_phase");
  int step = 0;
  for (const json& of_step : result.at("steps")) {
    ++step;
    for (const auto& [name, phase] : phases) {
      const auto at = of_step.find(name);
      if (at != of_step.end()) t.phases.push_back({phase, step, at->at("peak")});
    }
  }
  return t;
}

/// What transformers 4 does otherwise with the model; what it does that is not played is no case.
void follow_version(Case& c) {
  constexpr std::string_view transformers_4 = "transformers 4.";
  if (!c.plan.framework.starts_with(transformers_4)) return;
  auto plan = with_model_defaults(c.plan, *c.architecture);
  if (!plan) {
    c.unsupported = joined(plan.errors());
    return;
  }
  c.plan = *std::move(plan);
  for (const auto& what : c.plan.unmodelled) c.unsupported += (c.unsupported.empty() ? "" : "; ") + what.feature;
}

Case case_of(const json& models, const json& c, const Catalog& catalog = {}) {
  Case out;
  out.id = c.value("id", "?");
  out.model = c.value("model", "?");
  out.plan = plan_of(c);
  out.plan.framework = c.value("framework", "");
  out.rank = c.value("rank", 0);
  out.unsupported = unsupported_option(c);
  if (out.unsupported.empty()) out.unsupported = unsupported_head(models.at(out.model));
  if (!out.unsupported.empty()) return out;
  out.plan.model.head.value = head_of(models.at(out.model));
  json config = models.at(out.model).at("config");
  config.update(c.value("config_override", json::object()), true);
  const auto architecture = architecture_from(config, out.model, catalog);
  if (architecture) {
    out.architecture = *architecture;
    // The cases' sizes are what a processor makes, but for the patches that it fills up with, or the pictures' own.
    const bool own_size = c.value("own_size", false);
    if (!c.contains("max_patches") && !own_size) out.architecture->processor = {};
    follow_version(out);
  } else {
    out.unsupported = joined(architecture.errors());
  }
  return out;
}

const json* result_of(const json& results, const json& c) {
  for (const json& r : results) {
    if (r.value("id", "") == c.value("id", "")) return &r;
  }
  return nullptr;
}

double percent(std::int64_t predicted, std::int64_t truth) {
  return 100.0 * (static_cast<double>(predicted) - static_cast<double>(truth)) / static_cast<double>(truth);
}

/// A pipeline's truth may have the loss in what lies between its passes.
std::int64_t predicted_in(const Footprint& footprint, const Truth& truth, const Truth::PhaseBytes& of) {
  const bool has_loss = std::ranges::count(truth.phases, Phase::loss, &Truth::PhaseBytes::phase) > 0;
  std::int64_t out = 0;
  for (const PhasePeak& p : footprint.peaks) {
    const bool counts = p.phase == of.phase || (!has_loss && of.phase == Phase::between && p.phase == Phase::loss);
    if (counts && p.step == of.step) out = std::max(out, p.total.count());
  }
  return out;
}

}  // namespace

std::string_view short_name(Phase phase) {
  for (const auto& [name, p] : phases) {
    if (p == phase) return name;
  }
  return "load";
}

Cases read_cases(const std::string& models_path, const std::string& cases_path, const std::string& results_path,
                 const Catalog& catalog) {
  const json models = load(models_path);
  const json cases = load(cases_path);
  const json results = load(results_path);
  Cases out;
  out.all = cases.size();
  for (const json& c : cases) {
    const json* result = result_of(results, c);
    if (result == nullptr || !result->contains("peak")) continue;
    out.known.push_back(case_of(models, c, catalog));
    out.known.back().truth = truth_of(*result);
  }
  return out;
}

std::vector<Case> read_plans(const std::string& models_path, const std::string& cases_path) {
  const json models = load(models_path);
  std::vector<Case> out;
  for (const json& c : load(cases_path)) out.push_back(case_of(models, c));
  return out;
}

std::vector<std::pair<std::string, Architecture>> read_architectures(const std::string& path) {
  std::vector<std::pair<std::string, Architecture>> out;
  const json models = load(path);
  for (const auto& [name, model] : models.items()) {
    auto architecture = architecture_from(model.at("config"), name);
    if (!architecture) throw std::runtime_error(name + ": " + joined(architecture.errors()));
    out.emplace_back(name, std::move(*architecture));
  }
  return out;
}

std::vector<Event> events_of_tensors(const Footprint& footprint) {
  std::vector<Event> out = footprint.events;
  std::erase_if(out, [&](const Event& event) { return event.slot >= footprint.first_scratch; });
  return out;
}

Outcome compare(const Footprint& footprint, const Truth& truth) {
  Outcome o;
  o.predicted = footprint.peak.total.count();
  o.predicted_phase = footprint.peak.phase;
  o.peak = footprint.peak.by_bucket;
  o.error = percent(o.predicted, truth.peak);
  for (const Truth::PhaseBytes& t : truth.phases) {
    const std::int64_t predicted = predicted_in(footprint, truth, t);
    if (predicted == 0) continue;
    const double e = percent(predicted, t.bytes);
    o.phases.push_back({t.phase, t.step, predicted, t.bytes});
    if (std::abs(e) > std::abs(o.worst_phase)) o.worst_phase = e;
  }
  return o;
}

Result<Footprint> estimate_case(const Case& c, Detail detail) {
  return is_pipelined(c.plan.mesh) ? estimate_shard(c.plan, *c.architecture, c.rank, detail)
                                   : estimate(c.plan, *c.architecture, detail);
}

Outcome run(const Case& c) {
  if (!c.unsupported.empty()) return {.unsupported = c.unsupported};
  const auto footprint = estimate_case(c, Detail::peaks);
  if (!footprint) return {.unsupported = joined(footprint.errors())};
  return compare(*footprint, c.truth);
}

void Summary::add(const Outcome& outcome, const Truth& truth) {
  if (!outcome.unsupported.empty()) return;
  ++supported;
  within_tenth_percent += std::abs(outcome.error) <= 0.1;
  within_percent += std::abs(outcome.error) <= 1.0;
  right_phase += short_name(outcome.predicted_phase) == truth.peak_phase;
  phases_within_percent += std::abs(outcome.worst_phase) <= 1.0;
  if (std::abs(outcome.error) > std::abs(worst)) worst = outcome.error;
}

}  // namespace oomplan::oracle
