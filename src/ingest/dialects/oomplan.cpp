// The plain oomplan.yaml: the plan's own fields by name. Documented in docs/oomplan-yaml.md.
#include "../dialect.hpp"
#include "../loader_keys.hpp"
#include "oomplan/fact_table.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view framework = "transformers 5.23.0";
constexpr std::string_view training_arguments = "transformers 5.23.0: TrainingArguments";
constexpr std::string_view trainer = "transformers 5.23.0: Trainer.training_step";
constexpr std::string_view from_pretrained = "transformers 5.23.0: PreTrainedModel.from_pretrained";
constexpr std::string_view bnb_config = "transformers 5.23.0: BitsAndBytesConfig";
constexpr std::string_view lora_config = "peft 0.21.2: LoraConfig";

bool read_unmodelled(const Node& node, const Origin& origin, TrainingPlan& plan) {
  const auto features = read_names(node);
  if (!features) return false;
  for (const std::string& feature : *features) plan.unmodelled.push_back({feature, "unmodelled", origin.where});
  return true;
}

const std::vector<Row<TrainingPlan>>& rows() {
  static const std::vector<Row<TrainingPlan>> all = [] {
    std::vector<Row<TrainingPlan>> out{row<TrainingPlan, &TrainingPlan::framework, as::text>("framework")};
    for (const FactRow& fact : facts()) out.push_back({fact.name, fact.expected, fact.read, nullptr, fact.choices});
    out.push_back({"unmodelled", as::names.expected, read_unmodelled, nullptr, {}});
    return out;
  }();
  return all;
}

Table<TrainingPlan> table() { return {rows(), {}, {}}; }

void default_method(TrainingPlan& plan) {
  plan.adapter.kind = {Adapter::none, default_of("oomplan.yaml: full fine-tuning")};
  plan.adapter.rank = {8, default_of(lora_config)};
  plan.adapter.targets = {{"peft-default"}, default_of("peft 0.21.2: target modules by model_type")};
  plan.adapter.dropout = {0.0, default_of(lora_config)};
  plan.adapter.dtype = {AdapterDType::fp32, default_of("peft 0.21.2: get_peft_model(autocast_adapter_dtype=True)")};
  for (auto kernel : {&KernelFacts::lora_qkv, &KernelFacts::lora_o, &KernelFacts::lora_mlp}) {
    plan.kernels.*kernel = {false, default_of("peft 0.21.2: LoraLayer.forward")};
  }
  plan.quantization.kind = {Quantization::none, default_of(from_pretrained)};
  plan.quantization.double_quantization = {false, default_of(bnb_config)};
  plan.quantization.compute_dtype = {DType::fp32, default_of(bnb_config)};
  plan.quantization.linear = {QuantizedLinear::bitsandbytes, default_of(bnb_config)};
  plan.precision.fp32_norms = {false, default_of(from_pretrained)};
  plan.precision.fp32_while_loading = {false, default_of(from_pretrained)};
  plan.quantization.kbit_upcast = {false,
                                   default_of("oomplan.yaml: peft's prepare_model_for_kbit_training is not called")};
}

void default_step(TrainingPlan& plan) {
  plan.recipe.trainer = {"trainer", default_of("oomplan.yaml: transformers' Trainer")};
  plan.batch.gradient_accumulation_steps = {1, default_of(training_arguments)};
  plan.batch.padding_mask = {false, assumed("all rows are of the same length")};
  plan.precision.weights_dtype = {WeightsDType::checkpoint, default_of(from_pretrained)};
  plan.precision.autocast = {Autocast::none, default_of(training_arguments)};
  plan.optimizer.name = {"adamw_fused", default_of(training_arguments)};
  plan.evaluation.evaluates = {false, default_of(training_arguments)};
  plan.evaluation.rows = {0, default_of("oomplan.yaml: as many as in training")};
  plan.evaluation.length = {0, default_of("oomplan.yaml: as long as in training")};
  plan.evaluation.padded = {false, assumed("all rows are of the same length")};
  plan.optimizer.clip_gradients = {true, default_of(training_arguments)};
  plan.checkpointing.on = {false, default_of(training_arguments)};
  plan.checkpointing.reentrant = {false, default_of("transformers 5.23.0: activation_checkpointing_enable")};
  plan.kernels.attention = {Attention::sdpa, default_of(from_pretrained)};
  plan.recipe.loss = {Loss::full_logits, default_of("transformers 5.23.0: ForCausalLMLoss")};
  plan.recipe.outputs_kept = {false, default_of(trainer)};
  plan.optimizer.fp32_embedding_state = {true, default_of("transformers 5.23.0: Trainer.create_optimizer")};
  plan.optimizer.set_grads_to_none = {true, default_of("torch 2.13.0: Module.zero_grad")};
  plan.recipe.use_cache = {false, default_of(training_arguments)};
  plan.batch.lengths = {{}, assumed("every step's rows are as long as the longest")};
  plan.runtime.alloc_conf = {"", default_of("torch 2.13.0: AcceleratorAllocatorConfig")};
}

void require(Draft& draft, const Document& document, const Origin& origin, std::string_view field) {
  // A default has its source; what is still without one, nobody has said.
  if (!origin.source.empty()) return;
  const std::string key(field);
  miss(draft, document, field, {field}, key + " is not given", "add " + key + ": … or --set " + key + "=…");
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  TrainingPlan& plan = draft.plan;
  plan.framework = framework;
  default_method(plan);
  default_step(plan);
  plan.loader = plain_loader();
  Findings findings;
  read_rows(table(), inputs, plan, findings);
  take(draft, std::move(findings));
  if (plan.precision.outputs_to_fp32.origin.source.empty()) {
    plan.precision.outputs_to_fp32 = {plan.precision.autocast.value != Autocast::none,
                                      default_of("accelerate 1.15.0: prepare_model")};
  }
  require(draft, document, plan.model.name.origin, "model");
  require(draft, document, plan.batch.micro_batch_size.origin, "micro_batch_size");
  require(draft, document, plan.batch.sequence_length.origin, "sequence_length");
  return draft;
}

// What a fact asks for is said by that fact.
std::vector<std::string> unmodelled_beside_facts(const TrainingPlan& plan) {
  std::vector<std::string> features;
  for (const Unmodelled& one : plan.unmodelled) {
    if (find_fact(one.key) == nullptr) features.push_back(one.feature);
  }
  return features;
}

std::string write(const TrainingPlan& plan) {
  std::string out;
  const auto line = [&](std::string_view key, const std::string& value) {
    out += std::string(key) + ": " + value + "\n";
  };
  if (!plan.framework.empty()) line("framework", write_text(plan.framework));
  for (const FactRow& fact : facts()) line(fact.name, fact.write(plan));
  const auto features = unmodelled_beside_facts(plan);
  if (!features.empty()) line("unmodelled", yaml_list(features));
  return out;
}

}  // namespace

namespace dialects {
extern const Dialect oomplan;
const Dialect oomplan{"oomplan", "the plan's own facts", "model", [] { return keys_of(table()); }, read, write};
}  // namespace dialects

}  // namespace oomplan::ingestion
