// The facts that decide a training run's memory, each with where it came from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/dtype.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/core/setting.hpp"
#include "oomplan/plan/loader_plan.hpp"
#include "oomplan/plan/mesh.hpp"

namespace oomplan {

enum class Autocast : std::uint8_t { none, bf16, fp16 };
inline constexpr std::array<std::string_view, 3> autocast_names{"none", "bf16", "fp16"};

/// peft's methods that change what its targets compute: LoraConfig, IA3Config, VeraConfig, OFTConfig, LoHaConfig,
/// LoKrConfig.
enum class Adapter : std::uint8_t { none, lora, ia3, vera, oft, loha, lokr };
inline constexpr std::array<std::string_view, 7> adapter_names{"none", "lora", "ia3", "vera", "oft", "loha", "lokr"};

/// What LoRA's first values are made of (peft's init_lora_weights). plain: of no weight. pissa_niter: of a randomised
/// SVD of each base weight. olora: of its QR decomposition.
enum class AdapterInit : std::uint8_t { plain, pissa_niter, olora };
inline constexpr std::array<std::string_view, 3> adapter_init_names{"plain", "pissa_niter", "olora"};

/// How frozen linear weights are stored. nf4 and fp4 are bitsandbytes' 4-bit types, of the same size; int8 is its
/// LLM.int8().
enum class Quantization : std::uint8_t { none, nf4, fp4, int8 };
inline constexpr std::array<std::string_view, 4> quantization_names{"none", "nf4", "fp4", "int8"};

/// The class that holds 4-bit weights. bitsandbytes: its Linear4bit, to which peft gives a forward of its own
/// (peft/tuners/lora/bnb.py) and adapters of the compute dtype. torch_linear: another subclass of torch.nn.Linear,
/// which peft takes for any Linear: the bias is added to the product, and adapters stay fp32, as its weights are
/// integers. lightning: Lightning's subclasses of bitsandbytes' Linear4bit, which quantize what is in fp16, the head
/// too.
enum class QuantizedLinear : std::uint8_t { bitsandbytes, torch_linear, torchao, lightning };
inline constexpr std::array<std::string_view, 4> quantized_linear_names{"bitsandbytes", "torch_linear", "torchao",
                                                                        "lightning"};

/// What a 4-bit weight's bytes are called (bnb_4bit_quant_storage). FSDP shards what is of a floating type.
enum class QuantStorage : std::uint8_t { uint8, bf16, fp16, fp32 };
inline constexpr std::array<std::string_view, 4> quant_storage_names{"uint8", "bf16", "fp16", "fp32"};

/// The attention implementation as transformers names it (`attn_implementation`).
enum class Attention : std::uint8_t { eager, sdpa, flash_attention_2 };
inline constexpr std::array<std::string_view, 3> attention_names{"eager", "sdpa", "flash_attention_2"};

/// How a mixture runs its experts, as transformers names it (`experts_implementation`).
enum class ExpertsImplementation : std::uint8_t { eager, batched_mm, grouped_mm };
inline constexpr std::array<std::string_view, 3> experts_names{"eager", "batched_mm", "grouped_mm"};

/// Which tokens a mixture's experts get. any: one expert all of them, and all experts some.
enum class Routing : std::uint8_t { any, balanced };
inline constexpr std::array<std::string_view, 2> routing_names{"any", "balanced"};

/// What a trainer measures of the logits beside the loss (trl/trainer/sft_trainer.py: compute_loss). accuracy: of a
/// copy of those that have a next token. The others have the entropy of each token too: of a batch's rows one by one
/// (row_entropy), of 128 tokens at a time (entropy), of such tokens of that copy, beside which another is made
/// (copied_entropy), and of such tokens of a copy that goes then, without another (shifted_entropy).
enum class TokenMetrics : std::uint8_t { none, accuracy, row_entropy, entropy, copied_entropy, shifted_entropy };
inline constexpr std::array<std::string_view, 6> token_metrics_names{"none",    "accuracy",       "row_entropy",
                                                                     "entropy", "copied_entropy", "shifted_entropy"};

/// What of a language model's loss is moved by one token, so that each is held against the next (transformers:
/// loss/loss_utils.py). labels: they are padded. logits: of an fp32 copy, all but the last token's are copied (before
/// 4.49). replaced_logits: so, where the copy takes the logits' place (Mistral before 4.48). raised_logits: the model
/// makes that copy whether or not there is a loss (before 4.46).
enum class LogitShift : std::uint8_t { labels, logits, replaced_logits, raised_logits };
inline constexpr std::array<std::string_view, 4> logit_shift_names{"labels", "logits", "replaced_logits",
                                                                   "raised_logits"};

/// How a DPO trainer scores pairs by all their logits (trl/trainer/dpo_trainer.py: concatenated_forward). by_row: one
/// row after the other. at_once: by one log-softmax of all (before 0.15). cut: of all but the last token's (before
/// 0.14). held: so, beside a cross entropy of the chosen rows, and all of it lives until the loss is there (before
/// 0.12).
enum class PairScores : std::uint8_t { by_row, at_once, cut, held };
inline constexpr std::array<std::string_view, 4> pair_scores_names{"by_row", "at_once", "cut", "held"};

/// What a key-value cache that a forward pass in training fills is (transformers: cache_utils.py). copies: of the
/// layers' keys and values. references: those themselves (before 4.56). returned: so, as tuples in the output, which
/// accelerate raises to fp32 with it (before 4.48).
enum class CacheKind : std::uint8_t { copies, references, returned };
inline constexpr std::array<std::string_view, 3> cache_kind_names{"copies", "references", "returned"};

/// How sdpa gets keys and values of which several queries' heads share one (transformers:
/// integrations/sdpa_attention.py). grouped: as they are, where there is no mask. repeated: for each head, and
/// contiguous beside a mask (before 4.48). copied: so, and contiguous always (before 4.54).
enum class SdpaKeys : std::uint8_t { grouped, repeated, copied };
inline constexpr std::array<std::string_view, 3> sdpa_keys_names{"grouped", "repeated", "copied"};

/// What a model is trained for. language_model: what its architecture is for, as a rule to predict tokens. The others
/// are transformers' ...ForSequenceClassification, ...ForTokenClassification and ...ForImageClassification.
enum class HeadKind : std::uint8_t {
  language_model,
  sequence_classifier,
  token_classifier,
  image_classifier,
  question_answering,
  multiple_choice
};
inline constexpr std::array<std::string_view, 6> head_names{"language_model",     "sequence_classifier",
                                                            "token_classifier",   "image_classifier",
                                                            "question_answering", "multiple_choice"};

/// How the head and the loss are computed.
/// full_logits: transformers' ForCausalLMLoss / cross_entropy over the whole logits tensor.
/// chunked_logprob: TRL >= 1's fused head (trl/kernels/chunked_logprob.py), no full logits.
/// chunked_nll: TRL 1.13's and 1.14's, the head and the cross entropy of 256 labelled tokens after the other, each made
/// again in backward.
/// raised_chunked_nll: the same in TRL 1.4 to 1.12, whose hidden states and head are copied in fp32 for each.
/// liger_fused_linear: liger-kernel 0.8.5's fused linear cross entropy, no full logits.
/// liger_0_8_0_fused_linear: that of liger-kernel 0.8.0.
/// cut_cross_entropy: Axolotl's fork of ml-cross-entropy, no logits.
/// dynamic_fine_tuning: LLaMA-Factory's, each token's cross entropy weighted by its probability, over the whole logits.
/// entropy_aware: LLaMA-Factory's EAFT, each labelled token's cross entropy weighted by the entropy of its best logits.
/// masked_entropy_aware: Axolotl's EAFT, for which the loss is taken of the labelled tokens' logits alone.
/// chunked_output: torchtune's CEWithChunkedOutputLoss, logits of the whole rows in chunks, and their cross entropies.
/// linear_cross_entropy: torchtune's, the head and the cross entropy of one chunk after the other.
/// chunked_head: litgpt's with an adapter, the head's product of 128 positions at a time, and their cross entropies.
/// chunked_rows: litgpt's of a whole model, the cross entropies of 128 rows of the logits at a time.
/// sliced_logits: litgpt's in evaluation, one cross entropy of all rows but the last of each.
/// unsloth_fused: unsloth_zoo's (fused_losses/cross_entropy_loss.py), compiled, over parts of at most 4 GiB of fp32
/// logits.
/// summed_logits: torchtitan's, the sum of all rows' cross entropies, whose labels come as they are.
/// held_logits: the same in its validation, which holds a batch's logits until the next ones are made.
/// weighted_logprob: LLaMA-Factory's second trainer's, beside the loss that the model makes of the labels by itself.
enum class Loss : std::uint8_t {
  full_logits,
  chunked_logprob,
  liger_fused_linear,
  liger_0_8_0_fused_linear,
  cut_cross_entropy,
  dynamic_fine_tuning,
  entropy_aware,
  masked_entropy_aware,
  chunked_output,
  linear_cross_entropy,
  chunked_head,
  chunked_rows,
  sliced_logits,
  unsloth_fused,
  summed_logits,
  held_logits,
  weighted_logprob,
  chunked_nll,
  raised_chunked_nll
};
inline constexpr std::array<std::string_view, 19> loss_names{
    "full_logits",       "chunked_logprob",      "liger_fused_linear", "liger_0_8_0_fused_linear",
    "cut_cross_entropy", "dynamic_fine_tuning",  "entropy_aware",      "masked_entropy_aware",
    "chunked_output",    "linear_cross_entropy", "chunked_head",       "chunked_rows",
    "sliced_logits",     "unsloth_fused",        "summed_logits",      "held_logits",
    "weighted_logprob",  "chunked_nll",          "raised_chunked_nll"};

/// Whether the loss is made of the labelled tokens alone, by the head's own matrix: those of TRL's SFTTrainer.
constexpr bool of_labelled_tokens(Loss loss) {
  return loss == Loss::chunked_logprob || loss == Loss::chunked_nll || loss == Loss::raised_chunked_nll;
}

/// What a run does: the files of src/estimate/recipes. reference_free: TRL's ORPO and CPO. reward: a model of rewards.
/// distillation: TRL's GKD. reward_values: LLaMA-Factory's, whose values come beside the logits.
/// raised_pairs: torchtune's DPO, whose models return logits in fp32.
enum class RecipeKind : std::uint8_t {
  supervised,
  dpo,
  reference_free,
  reward,
  kto,
  grpo,
  paired_logits,
  unpaired_logits,
  distillation,
  reward_values,
  raised_pairs
};
inline constexpr std::array<std::string_view, 11> recipe_names{
    "supervised",      "dpo",          "reference_free", "reward",      "kto", "grpo", "paired_logits",
    "unpaired_logits", "distillation", "reward_values",  "raised_pairs"};
constexpr std::string_view name_of(RecipeKind kind) { return recipe_names[static_cast<std::size_t>(kind)]; }

/// What a policy is held against. adapter_off: itself without its adapter. model: another of the same weights.
/// precomputed: itself, once, before the first step.
enum class Reference : std::uint8_t { none, adapter_off, model, precomputed };
inline constexpr std::array<std::string_view, 4> reference_names{"none", "adapter_off", "model", "precomputed"};

/// What writes a rollout's completions. elsewhere: another process. transformers: its generate(), on the GPU that
/// trains.
enum class Generation : std::uint8_t { elsewhere, transformers };
inline constexpr std::array<std::string_view, 2> generation_names{"elsewhere", "transformers"};

/// What generate() does to the scores of the next token before one is drawn (transformers: generation/
/// logits_process.py), in the order in which it does.
inline constexpr std::array<std::string_view, 5> sampling_names{"repetition_penalty", "temperature", "top_k", "top_p",
                                                                "min_p"};

/// How far a student is from its teacher. forward: the KL divergence of the student's distribution from the teacher's.
/// reverse: the other way round. mixed: both from a mixture of the two (generalised Jensen-Shannon).
enum class Divergence : std::uint8_t { forward, reverse, mixed };
inline constexpr std::array<std::string_view, 3> divergence_names{"forward", "reverse", "mixed"};

/// What dtype the model's weights are loaded in. `checkpoint` is the dtype that the model's config.json names
/// (transformers 5's dtype="auto"); fp32 where it names none.
enum class WeightsDType : std::uint8_t { checkpoint, fp32, bf16, fp16 };
inline constexpr std::array<std::string_view, 4> weights_dtype_names{"checkpoint", "fp32", "bf16", "fp16"};

/// The dtype of LoRA's own weights. `as_base` follows the base weights.
enum class AdapterDType : std::uint8_t { fp32, bf16, as_base };
inline constexpr std::array<std::string_view, 3> adapter_dtype_names{"fp32", "bf16", "as_base"};

/// How peft makes W + ΔW of a parameter that carries LoRA by itself. summed: ΔW, then the sum (0.19). folded: both in
/// one baddbmm (from 0.21 on). unknown: of a version that nobody read; not estimated.
enum class ParameterUpdate : std::uint8_t { unknown, summed, folded };
inline constexpr std::array<std::string_view, 3> parameter_update_names{"unknown", "summed", "folded"};

/// A feature that the config asks for, that affects memory, and that the estimator does not play yet. One of these
/// makes the answer "cannot be decided": no number is given that ignores it.
struct Unmodelled {
  std::string feature{};  ///< "DeepSpeed ZeRO"
  std::string key{};      ///< The key as written ("deepspeed").
  Location where{};
  friend bool operator==(const Unmodelled&, const Unmodelled&) = default;
};

/// The error that it makes of an estimate.
inline Diagnostic error_of(const Unmodelled& gap) {
  return {Severity::error,
          "estimate/unmodelled",
          gap.key + ": " + gap.feature + " affects memory and is not modelled yet",
          gap.where,
          {},
          {}};
}

/// What the run does with its models: whose loop it is, and what its loss is made of.
struct RecipeFacts {
  Setting<std::string> trainer{};  ///< Of trainer_names (trainer.hpp).
  Setting<RecipeKind> kind{};
  Setting<Reference> reference{};
  Setting<std::int64_t>
      reference_rows{};         ///< In one of its batches where it is precomputed; 0: as many as in training.
  Setting<bool> second_term{};  ///< Of reference_free: the chosen rows' cross entropy. Of kto: the KL divergence. Of
                                ///< grpo: the policy scores a rollout before its steps.
  Setting<std::int64_t> rollout_batches{};       ///< Micro-batches of a rollout; 0: as many as are accumulated.
  Setting<std::int64_t> rollout_iterations{};    ///< How often each is trained on.
  Setting<Generation> generation{};              ///< Of grpo.
  Setting<std::vector<std::string>> sampling{};  ///< Of sampling_names; by generate() alone.
  Setting<Divergence> divergence{};              ///< Of distillation.
  Setting<Loss> loss{};
  Setting<std::int64_t> loss_part{};  ///< Of unsloth_fused: bytes of fp32 logits that a part of it has at most.
  Setting<bool> outputs_kept{};       ///< The model's output object (logits) lives through backward.
  Setting<bool> use_cache{};          ///< The forward pass fills a key-value cache.
  Setting<CacheKind> cache_kind{};
  Setting<LogitShift> logit_shift{};
  Setting<PairScores> pair_scores{};  ///< Of dpo, by full logits.
  /// Python's regular expressions of the parameters that are trained, from their names' beginning; empty: all that the
  /// method trains. A model with an adapter has "base_model.model." before its names.
  Setting<std::vector<std::string>> trained{};
  /// Parts of parameters' names: one whose name has such a part stays as it is ("vision_tower").
  Setting<std::vector<std::string>> frozen{};
  /// LLaMA-Factory's freeze tuning: the last so many layers are trained, or where it is negative the first, beside what
  /// `trained` names; such layers alone are checkpointed. 0: it is another method.
  Setting<std::int64_t> trained_layers{};
  Setting<std::vector<std::string>> layer_parts{};  ///< Of such a layer, the modules that are trained; empty: all.
  Setting<TokenMetrics> token_metrics{};
  Setting<bool> label_smoothing{};  ///< The loss is of smoothed labels: transformers' LabelSmoother, of full logits.
  Setting<bool> router_loss{};      ///< The load-balancing loss of a mixture's routers is added to the trainer's.
  Setting<bool> neftune{};          ///< Noise is added to the embeddings in training (arXiv:2310.05914).
  friend bool operator==(const RecipeFacts&, const RecipeFacts&) = default;
};

struct ModelFacts {
  Setting<std::string> name{};     ///< A hub id, a directory, or a config.json.
  Setting<std::string> teacher{};  ///< The same of the model that a student learns from; empty: none.
  Setting<WeightsDType> teacher_dtype{};
  Setting<HeadKind> head{};
  Setting<std::int64_t> labels{};      ///< Of a classifier; 0: as many as the config has.
  Setting<std::int64_t> choices{};     ///< Of multiple choice, in each row; 0: nobody said.
  Setting<std::int64_t> vocabulary{};  ///< Rows that embedding and head are enlarged to; 0: as the checkpoint has them.
  Setting<bool> mean_resizing{};       ///< New rows are drawn around the mean of the old ones.
  friend bool operator==(const ModelFacts&, const ModelFacts&) = default;
};

/// What a config adds to the tokenizer; with_model_defaults() makes ModelFacts::vocabulary of it.
struct NewTokens {
  std::vector<std::string> names{};    ///< Those that the tokenizer gets where it has them not.
  std::vector<std::string> unsaved{};  ///< Those of them that the framework refuses to add, as it would not train them.
  std::int64_t multiple = 1;           ///< What an enlarged vocabulary is rounded up to.
  Origin origin{};
  friend bool operator==(const NewTokens&, const NewTokens&) = default;
};

struct BatchFacts {
  Setting<std::int64_t> micro_batch_size{};      ///< Rows in one forward pass on one device.
  Setting<std::int64_t> sequence_length{};       ///< Tokens in a row after padding: the longest batch of the run.
  Setting<std::int64_t> target_length{};         ///< Of an encoder-decoder's labels; 0: as many as in a row.
  Setting<std::vector<std::int64_t>> lengths{};  ///< Of each step's rows, where they vary; at most sequence_length.
  Setting<std::int64_t> gradient_accumulation_steps{};
  Setting<bool> mask_sent{};                  ///< A batch has an attention_mask, if of ones alone.
  Setting<bool> padding_mask{};               ///< Rows are padded, so attention gets a mask.
  Setting<std::int64_t> completion_length{};  ///< Tokens of a row that a loss counts; 0: all.
  Setting<std::int64_t> joined{};             ///< Rows that stand in one, each with positions of its own; 0: none.
  friend bool operator==(const BatchFacts&, const BatchFacts&) = default;
};

/// What `count` is where nobody said whether rows have images.
inline constexpr std::int64_t unknown_images = -1;

/// The images of rows, as the processor hands them to the model, and their sounds. They matter where the model has a
/// tower for them.
struct ImageFacts {
  Setting<std::int64_t> count{};  ///< In each row; unknown_images where nobody said.
  Setting<std::int64_t>
      height{};  ///< Pixels after the processor's resizing; 0: as the model's config has it, or not known.
  Setting<std::int64_t> width{};
  Setting<std::int64_t> tiles{};  ///< That the processor cuts of one, the picture of the whole among them.
  Setting<MixedDType> dtype{};    ///< In which pixels come; as_held: in the model's own.
  Setting<std::int64_t> clips{};  ///< Of sound, in each row, each padded to the seconds that the processor makes of
                                  ///< all; unknown_images where nobody said.
  Setting<bool> token_types{};    ///< Rows say which of their tokens are of images though none is: a processor's do.
  friend bool operator==(const ImageFacts&, const ImageFacts&) = default;
};

struct PrecisionFacts {
  Setting<WeightsDType> weights_dtype{};
  Setting<Autocast> autocast{};
  Setting<bool> backward_in_autocast{};  ///< A loop of one's own calls backward() before it leaves autocast.
  Setting<bool> fp32_norms{};            ///< Norms, embeddings and head are held in fp32 beside linear weights of
                                         ///< weights_dtype (Axolotl without flash attention).
  Setting<bool> fp32_while_loading{};    ///< Norms, embeddings and head go to fp32 and back before the adapters come;
                                         ///< then the cache is emptied (Axolotl's loader).
  Setting<bool> trained_to_fp32{};       ///< What is trained goes to fp32 once all is loaded (LLaMA-Factory).
  Setting<bool> outputs_to_fp32{};       ///< accelerate's convert_outputs_to_fp32 around forward.
  friend bool operator==(const PrecisionFacts&, const PrecisionFacts&) = default;
};

/// All but `kind` matter where there is an adapter.
struct AdapterFacts {
  Setting<Adapter> kind{};
  Setting<std::int64_t> rank{};
  Setting<std::vector<std::string>> targets{};            ///< Module names ("q_proj"), or the one entry "all-linear" or
                                                          ///< "peft-default" (until with_model_defaults()).
  Setting<std::vector<std::string>> target_parameters{};  ///< peft's: parameters that carry LoRA by themselves.
  Setting<std::vector<std::string>> layers{};  ///< Numbers of the layers that carry it, from 0 on; empty: all.
  Setting<ParameterUpdate> update{};
  Setting<double> dropout{};
  Setting<AdapterDType> dtype{};
  Setting<bool> input_grads{};  ///< The embeddings' output is asked for a gradient, checkpoints or none.
  Setting<bool> dora{};
  Setting<AdapterInit> init{};
  Setting<std::vector<std::string>> feedforward{};      ///< Of IA³'s targets, those whose input is scaled.
  Setting<std::int64_t> block{};                        ///< The width of OFT's blocks; 0: as many as the rank.
  Setting<std::vector<std::string>> modules_to_save{};  ///< That peft copies and trains beside the adapter ("lm_head").
  friend bool operator==(const AdapterFacts&, const AdapterFacts&) = default;
};

/// Whether a model's layers are Unsloth's own functions (unsloth/kernels, unsloth/models), and by what they attend:
/// xformers' flash operator.
enum class UnslothLayers : std::uint8_t { none, xformers };
inline constexpr std::array<std::string_view, 2> unsloth_names{"none", "xformers"};

/// Which functions compute what the model's own code would.
struct KernelFacts {
  Setting<Attention> attention{};
  Setting<bool> older_gpu{};  ///< SDPA chooses as on a compute capability below 8.0.
  Setting<ExpertsImplementation> experts{};
  Setting<Routing> routing{};      ///< Matters where experts are eager.
  Setting<bool> scan_packages{};   ///< mamba-ssm, causal-conv1d or flash-linear-attention is installed.
  Setting<bool> lora_qkv{};        ///< Axolotl's fused LoRA function for q, k and v (kernels/lora.py)
  Setting<bool> lora_o{};          ///< … for the attention's output
  Setting<bool> lora_mlp{};        ///< … for gate, up and down, in place of peft's forward.
  Setting<bool> liger_rms_norm{};  ///< Liger's, where it has one for the model.
  Setting<bool> liger_rope{};
  Setting<bool> liger_glu{};  ///< LigerSiLUMulFunction or its like of GELU.
  Setting<bool> liger_layer_norm{};
  Setting<bool> fused_norm_rope{};      ///< Axolotl's kernel for the norms of queries and keys and their turning.
  Setting<bool> patched_log_softmax{};  ///< Axolotl's function for tokens' log-probabilities, in place of TRL's.
  Setting<UnslothLayers> unsloth{};     ///< Those of the model's layers.
  Setting<SdpaKeys> sdpa_keys{};
  Setting<bool> additive_mask{};     ///< The causal mask is of numbers, in the embeddings' dtype, for sdpa too.
  Setting<bool> rotary_in_layers{};  ///< Each layer makes the rotary embedding anew.
  friend bool operator==(const KernelFacts&, const KernelFacts&) = default;
};

/// One of Liger's layers; its losses are values of Loss.
inline bool has_liger_layers(const KernelFacts& k) {
  return k.liger_rms_norm.value || k.liger_rope.value || k.liger_glu.value || k.liger_layer_norm.value;
}

/// Where weights that a checkpoint has packed (MXFP4) are made whole, if they are.
enum class Dequantized : std::uint8_t { none, on_host, on_device };
inline constexpr std::array<std::string_view, 3> dequantized_names{"none", "on_host", "on_device"};

/// All but `kind` and `dequantized` matter where weights are quantized.
struct QuantizationFacts {
  Setting<Quantization> kind{};
  Setting<bool> double_quantization{};
  Setting<DType> compute_dtype{};
  Setting<QuantizedLinear> linear{};
  Setting<QuantStorage> storage{};              ///< Of 4-bit weights.
  Setting<bool> experts{};                      ///< Experts' 3-D parameters too, in 4 bits (Axolotl).
  Setting<std::vector<std::string>> skipped{};  ///< Modules left as they are (llm_int8_skip_modules).
  Setting<std::int64_t> checkpoint{};  ///< Bytes of a checkpoint in 4 bits that keeps more in 16 than `skipped`
                                       ///< says; 0: none does.
  Setting<Dequantized> dequantized{};  ///< Of a checkpoint that is packed.
  Setting<bool> kbit_upcast{};         ///< peft's prepare_model_for_kbit_training: other weights to fp32.
  Setting<std::int64_t> fake_group{};  ///< Elements that share a scale in fake quantization; 0: there is none.
  friend bool operator==(const QuantizationFacts&, const QuantizationFacts&) = default;
};

struct OptimizerFacts {
  Setting<std::string> name{};           ///< A name that the estimator plays ("adamw_fused"); where it is unmodelled,
                                         ///< the framework's own.
  Setting<bool> fp32_embedding_state{};  ///< An 8-bit optimizer keeps embeddings' state in fp32, as transformers'
                                         ///< Trainer asks of bitsandbytes.
  Setting<bool> clip_gradients{};        ///< clip_grad_norm_ before the step.
  Setting<bool> set_grads_to_none{};
  Setting<bool> in_backward{};  ///< One for each parameter, which steps as soon as backward has its gradient.
  friend bool operator==(const OptimizerFacts&, const OptimizerFacts&) = default;
};

/// Where what is saved for backward waits for it. streamed: TRL's OffloadActivations, which copies to the host while
/// the next ops run, and keeps some tensors until their copies are done. streamed_clones: the same, which
/// clones what is not contiguous first, as Axolotl patches it. synchronous: no stream beside. buffered: Unsloth's, of
/// checkpoints' inputs alone, which come back into two buffers that stay.
enum class Offload : std::uint8_t { none, streamed, streamed_clones, synchronous, buffered };
inline constexpr std::array<std::string_view, 5> offload_names{"none", "streamed", "streamed_clones", "synchronous",
                                                               "buffered"};

/// What of a checkpointed layer is kept beside its input. inputs: nothing. products: what attention kernels return and
/// every second matrix product, from the first on, by torch's selective checkpointing as torchtitan asks for it.
enum class CheckpointKeeps : std::uint8_t { inputs, products };
inline constexpr std::array<std::string_view, 2> checkpoint_keeps_names{"inputs", "products"};

/// Which of so many layers is checkpointed, counted from the first on.
enum class CheckpointPlace : std::uint8_t { last, first };
inline constexpr std::array<std::string_view, 2> checkpoint_place_names{"last", "first"};

struct CheckpointingFacts {
  Setting<bool> on{};
  Setting<bool> reentrant{};
  Setting<std::int64_t> every{};  ///< Of so many layers one is checkpointed; 1: each.
  Setting<CheckpointPlace> place{};
  Setting<CheckpointKeeps> keeps{};
  Setting<bool> early_stop{};  ///< Recomputing ends with the last tensor that backward needs.
  Setting<bool> wrapped{};     ///< By torch's checkpoint_wrapper around blocks, of which the model knows nothing.
  Setting<Offload> offload{};
  friend bool operator==(const CheckpointingFacts&, const CheckpointingFacts&) = default;
};

struct EvaluationFacts {
  Setting<bool> evaluates{};       ///< Evaluation runs while the optimizer's state is there.
  Setting<std::int64_t> rows{};    ///< In one of its batches; 0: as many as in training.
  Setting<std::int64_t> length{};  ///< Of such a row; 0: as long as in training.
  Setting<bool> padded{};          ///< Its rows are padded, whether or not training's are.
  friend bool operator==(const EvaluationFacts&, const EvaluationFacts&) = default;
};

struct SavingFacts {
  Setting<bool> saves{};  ///< A checkpoint is written while the optimizer's state is there.
  friend bool operator==(const SavingFacts&, const SavingFacts&) = default;
};

/// What PyTorch itself is told.
struct RuntimeFacts {
  Setting<std::string> alloc_conf{};  ///< PYTORCH_ALLOC_CONF; empty: torch's defaults.
  friend bool operator==(const RuntimeFacts&, const RuntimeFacts&) = default;
};

struct TrainingPlan {
  std::string dialect{};    ///< "hf", "oomplan", ….
  std::string framework{};  ///< Whose defaults were taken: "trl 1.16.0 on transformers 5.23.0".

  RecipeFacts recipe{};
  ModelFacts model{};
  BatchFacts batch{};
  ImageFacts images{};
  PrecisionFacts precision{};
  AdapterFacts adapter{};
  KernelFacts kernels{};
  QuantizationFacts quantization{};
  OptimizerFacts optimizer{};
  CheckpointingFacts checkpointing{};
  EvaluationFacts evaluation{};
  SavingFacts saving{};
  RuntimeFacts runtime{};
  MeshFacts mesh{};
  LoaderPlan loader{};  ///< What decides host memory; nothing of it reaches the GPU.
  NewTokens new_tokens{};
  /// Of rows that are joined of samples whose positions begin anew: the longest such sample, 1 where nobody says; 0:
  /// rows are not joined so.
  std::int64_t longest_sample = 0;
  /// Keys of the model's config.json, each with the scalar that the run puts in its place, as YAML.
  std::vector<std::pair<std::string, std::string>> model_config{};

  std::vector<Unmodelled> unmodelled{};
  Diagnostics warnings{};

  friend bool operator==(const TrainingPlan&, const TrainingPlan&) = default;
};

/// Whether resuming is in the figures: transformers' Trainer, unless it shards, loads to the CPU and moves one tensor
/// of the optimizer's state after the other to where it is from the second step on (trainer.py:
/// _load_optimizer_and_scheduler).
inline bool counts_resuming(const TrainingPlan& plan) {
  return holds_whole(plan.mesh) && plan.framework.find("transformers ") != std::string::npos &&
         !plan.framework.starts_with("unsloth ");
}

/// Whether what is held while a checkpoint is written is played: not where shards are gathered for it.
inline bool counts_saving(const TrainingPlan& plan) { return plan.saving.saves.value && holds_whole(plan.mesh); }

}  // namespace oomplan
