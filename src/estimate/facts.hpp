// From a plan and an architecture to what the modules need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/pattern.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"
#include "repetition.hpp"

namespace oomplan::estimator {

struct Objective;

/// The images of a row, as ImageFacts; or its sounds, of which each is a clip.
struct Images {
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t tiles = 1;
  std::int64_t frames = 0;       ///< Of a clip: of its spectrogram,
  std::int64_t tokens = 0;       ///< … and those of a row that stand for it.
  std::int64_t room = 0;         ///< Patches, or frames, that the processor fills each up to; 0: it does not.
  std::optional<DType> dtype{};  ///< Of pixels; none: the model's.
  bool token_types = false;      ///< Rows say which of their tokens are images'.
  Location at{};
};

/// How ranks share each matrix, as MeshFacts has it.
struct TensorParallel {
  std::int64_t ranks = 1;
  bool sequence = false;  ///< Between the matrices each has its part of every row's tokens.
  bool loss = false;      ///< Each has the logits of its part of the vocabulary.
};

/// How ranks share each row, as MeshFacts has it.
struct ContextParallel {
  std::int64_t ranks = 1;
  std::int64_t whole = 1;  ///< The length of a row as it comes, of which each rank has its part.
  bool hands_on = false;   ///< Keys and values go from rank to rank.
};

/// What names modules that are not quantised: their end, or an expression for their first parts.
struct Unquantized {
  std::string end{};
  Pattern start{};
};

/// The facts of a plan as the modules need them, resolved once.
/// Of a row's `positions` those that have a label, where `labelled` of them are said to; 0: all.
constexpr std::int64_t labelled_positions(std::int64_t labelled, std::int64_t positions) {
  return labelled > 0 && labelled < positions ? labelled : positions;
}

struct Facts {
  TensorParallel tensor_parallel{};
  ContextParallel context_parallel{};
  std::int64_t width = 0;  ///< Of hidden states, where a pipeline hands them on.
  std::int64_t batch = 1;
  std::int64_t length = 1;
  Images images{};  ///< Of what the module at work is given: in a tower of sound, and where it is merged, `sounds`.
  Images sounds{};
  Rows rows = Rows::tokens;
  Task task = Task::causal_lm;   ///< What it is trained to do: its architecture's task, or that of another head.
  std::int64_t labels = 2;       ///< Of a classifier.
  std::int64_t choices = 1;      ///< Rows of `batch` that are one of the plan's: the texts of multiple choice.
  std::int64_t dense_width = 0;  ///< As RecipeFacts has it.
  std::int64_t vocabulary = 0;   ///< As ModelFacts has it.
  bool mean_resizing = false;
  std::int64_t target_length = 1;  ///< Of an encoder-decoder's labels.
  bool source_padded = false;      ///< Where a decoder plays: its encoder's rows are padded.
  DType weights = DType::fp32;     ///< Of the base model, and of what a quantised one keeps unquantised.
  std::optional<DType> autocast{};
  Adapter kind = Adapter::none;
  bool adapts() const { return kind != Adapter::none; }
  std::int64_t lora_rank = 0;
  double lora_dropout = 0.0;
  bool dora = false;
  AdapterInit init = AdapterInit::plain;
  std::vector<std::string> feedforward{};  ///< As AdapterFacts has it.
  std::int64_t block = 0;                  ///< The same.
  DType adapter = DType::fp32;             ///< Over a layer that is not quantised.
  DType quantized_adapter = DType::fp32;   ///< Over one that is.
  std::vector<std::string> lora_targets{};
  bool adapts_embeddings = false;           ///< Where the loop asks the embedding for a gradient once peft is done.
  std::vector<std::int64_t> lora_layers{};  ///< Empty: all, and what stands in none.
  std::vector<std::string> lora_layers_pattern{};  ///< As AdapterFacts has it.
  Location lora_targets_at{};
  std::vector<std::string> unadapted{};          ///< Names that all-linear leaves out: peft has them for the experts'.
  std::vector<std::string> target_parameters{};  ///< Of which each is the end of a parameter's name.
  bool gate_up_doubled = false;                  ///< The fused projection has twice the rank.
  ParameterUpdate update = ParameterUpdate::folded;
  bool lora_names_layers = false;                 ///< A target has the number of a layer in it.
  std::shared_ptr<const Pattern> lora_pattern{};  ///< Where the one target is a regular expression.
  std::vector<Pattern> trained{};                 ///< Of the parameters that are trained; empty: by the method.
  Location trained_at{};
  std::vector<std::string> frozen{};  ///< Parts of names of parameters that are not.
  bool input_grads = false;           ///< The embedding's output is asked for a gradient (enable_input_require_grads).
  bool patch_grads = false;           ///< And what makes a picture's patches, or a sound's frames.
  bool neftune = false;               ///< As RecipeFacts has it.
  std::vector<std::string> modules_to_save{};
  Location modules_to_save_at{};
  std::optional<DType> saved_dtype{};  ///< Of their copies, where it is not that of what they copy.
  bool lora_qkv_kernel = false;
  bool lora_o_kernel = false;
  bool lora_mlp_kernel = false;
  bool quantized = false;
  std::vector<Unquantized> unquantized{};
  bool int8 = false;              ///< By LLM.int8(), else in 4 bits.
  bool samples_joined = false;    ///< A row is several samples, which positions alone keep apart.
  bool quantized_before = false;  ///< In the checkpoint, so that no weight is loaded in 16 bits first.
  bool bitsandbytes = true;       ///< Whether its Linear4bit holds them, or another subclass of torch.nn.Linear.
  std::int64_t fake_group = 0;    ///< Linear layers fake their quantization (modules/fake_quantize.hpp); 0: none does.
  bool own_dora = false;          ///< DoRA by torchtune's DoRALinear, not by peft.
  bool own_lora = false;          ///< LoRA by litgpt's LoRALinear, not by peft.
  bool torchao = false;           ///< Or a torch.nn.Linear with torchao's NF4Tensor for a weight.
  bool lightning = false;         ///< Or Lightning's subclass of Linear4bit, which the head is one of too.
  bool double_quantized = false;
  bool gemm_4bit = false;            ///< bitsandbytes multiplies by 4 bits in one op, as from 0.50 on.
  bool unpacks = false;              ///< Experts' parameters are made whole on the device as they are loaded.
  bool quantized_experts = false;    ///< Experts' parameters too, in 4 bits or 8.
  std::int64_t checkpoint = 0;       ///< As QuantizationFacts has it.
  std::optional<DType> packed_as{};  ///< What 4-bit weights' bytes are called, where that is a floating type.
  DType quantized_compute = DType::bf16;
  bool checkpointing = false;
  bool reentrant = false;
  OneOf checkpointed{};              ///< As CheckpointingFacts has it.
  bool early_stop = true;            ///< The same.
  bool checkpoints_modules = false;  ///< Each module of a checkpointed block is in a checkpoint of its own there.
  bool keeps_products = false;       ///< CheckpointKeeps::products
  Attention attention = Attention::sdpa;
  Attention tower_attention = Attention::sdpa;  ///< Of a part that sees or hears.
  ExpertsImplementation experts = ExpertsImplementation::grouped_mm;
  Routing routing = Routing::any;
  bool scan_packages = false;
  bool padding_mask = false;
  bool told_of_pieces = false;  ///< Flash attention knows packed rows by their positions, and takes them contiguous.
  bool sends_masks = false;     ///< A recipe's batches have masks, also where no row is padded.
  bool may_be_equal = false;    ///< Nobody says that rows differ in length.
  bool mask_sent = true;        ///< If of ones alone.
  bool positions_sent = false;  ///< A batch has the position of each token.
  /// A list of those that were clipped lives until the next step's are, and the graph of a loss until the next loss.
  bool holds_gradients = false;
  bool fp32_norms = false;
  bool python_norms = false;  ///< torchtune's norms are those of the versions after 0.6.1, written line by line.
  bool fp32_while_loading = false;
  bool trained_to_fp32 = false;
  bool kbit_upcast = false;
  TokenMetrics token_metrics = TokenMetrics::none;
  LogitShift logit_shift = LogitShift::labels;
  PairScores pair_scores = PairScores::by_row;
  SdpaKeys sdpa_keys = SdpaKeys::grouped;
  bool additive_mask = false;
  bool rotary_in_layers = false;
  CacheKind cache_kind = CacheKind::copies;
  std::int64_t labelled = 0;  ///< Of a row's positions, those that have a label; 0: all that can have one.
  bool liger_rms_norm = false;
  bool liger_rope = false;
  bool liger_glu = false;
  bool liger_norm_copies = false;  ///< The norm's gradient is not written over the one that it is given.
  Offload offload = Offload::none;
  bool patched_log_softmax = false;
  bool unsloth = false;        ///< The layers are Unsloth's functions.
  std::int64_t joined = 0;     ///< As BatchFacts has it.
  std::int64_t loss_part = 0;  ///< As RecipeFacts has it.
  bool fused_norm_rope = false;
  bool fills_cache = false;   ///< Where it is not checkpointed.
  bool generates = false;     ///< It writes completions too.
  std::int64_t past = 0;      ///< Tokens before these that a key-value cache has.
  bool scores_rows = false;   ///< The head is one of rewards.
  bool adapters_off = false;  ///< As peft's disable_adapter() has it.
  bool router_loss = false;   ///< The model is asked for its routers' logits, of which a loss is made.
  const Objective* objective = nullptr;
  const Objective* evaluation_objective = nullptr;
  bool evaluates = false;                  ///< Between steps.
  std::shared_ptr<const Facts> teacher{};  ///< What differs for the teacher, where there is one.
  bool has_values = false;                 ///< A head of values stands beside the model's own.
  std::int64_t trained_layers = 0;         ///< As RecipeFacts has it.
  std::vector<std::string> layer_parts{};  ///< Of such a layer, the modules that are trained; empty: all.
};

/// Errors: estimate/unmodelled, estimate/too-long, estimate/too-large.
Result<Facts> resolve(const TrainingPlan& plan, const Architecture& architecture);

/// What the model is loaded in.
DType loaded_dtype(const TrainingPlan& plan, const Architecture& architecture);
/// What an adapter's weights are held in over a base of `base`.
DType adapter_dtype(AdapterDType adapter, DType base);

/// Of a plan with an adapter, the layers that alone carry it.
std::vector<std::int64_t> lora_layers_of(const TrainingPlan& plan);

/// What is done to some layers by their number.
ByNumber by_number(const TrainingPlan& plan);

Task task_of(const TrainingPlan& plan, const Architecture& architecture);

/// The loss that is played: null where there is none for what the model is trained for.
const Objective* objective_of(const TrainingPlan& plan, const Architecture& architecture);

}  // namespace oomplan::estimator
