// The words that facts of a plan take: each enumeration, and its names in the enumeration's order.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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

/// The attention implementation as transformers names it (`attn_implementation`). flash_or_sdpa: sdpa for heads that
/// FlashAttention 2 does not take, which are wider than 256 (Axolotl's gemma4_hybrid_attn_impl).
enum class Attention : std::uint8_t { eager, sdpa, flash_attention_2, flash_or_sdpa };
inline constexpr std::array<std::string_view, 4> attention_names{"eager", "sdpa", "flash_attention_2", "flash_or_sdpa"};
constexpr bool takes_flash(Attention attention) {
  return attention == Attention::flash_attention_2 || attention == Attention::flash_or_sdpa;
}

/// How a mixture runs its experts, as transformers names it (`experts_implementation`). scattermoe: by the kernel that
/// Axolotl registers.
enum class ExpertsImplementation : std::uint8_t { eager, batched_mm, grouped_mm, scattermoe };
inline constexpr std::array<std::string_view, 4> experts_names{"eager", "batched_mm", "grouped_mm", "scattermoe"};

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
/// multiple_negatives, cached_multiple_negatives, cosine_similarity, cosent, triplet, contrastive, online_contrastive:
/// sentence-transformers' losses of those names, of the embeddings of a row's columns. weighted_logprob:
/// LLaMA-Factory's second trainer's, beside the loss that the model makes of the labels by itself.
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
  raised_chunked_nll,
  multiple_negatives,
  cached_multiple_negatives,
  cosine_similarity,
  cosent,
  triplet,
  contrastive,
  online_contrastive
};
inline constexpr std::array<std::string_view, 26> loss_names{"full_logits",
                                                             "chunked_logprob",
                                                             "liger_fused_linear",
                                                             "liger_0_8_0_fused_linear",
                                                             "cut_cross_entropy",
                                                             "dynamic_fine_tuning",
                                                             "entropy_aware",
                                                             "masked_entropy_aware",
                                                             "chunked_output",
                                                             "linear_cross_entropy",
                                                             "chunked_head",
                                                             "chunked_rows",
                                                             "sliced_logits",
                                                             "unsloth_fused",
                                                             "summed_logits",
                                                             "held_logits",
                                                             "weighted_logprob",
                                                             "chunked_nll",
                                                             "raised_chunked_nll",
                                                             "multiple_negatives",
                                                             "cached_multiple_negatives",
                                                             "cosine_similarity",
                                                             "cosent",
                                                             "triplet",
                                                             "contrastive",
                                                             "online_contrastive"};

/// Whether it is a loss of sentence-transformers', made of a row's sentence embeddings.
constexpr bool of_embeddings(Loss loss) { return loss >= Loss::multiple_negatives; }

/// What makes one embedding of those of a sentence's tokens (sentence-transformers: modules/pooling.py).
enum class Pooling : std::uint8_t { mean, cls, max, last_token };
inline constexpr std::array<std::string_view, 4> pooling_names{"mean", "cls", "max", "last_token"};

/// Whether the loss is made of the labelled tokens alone, by the head's own matrix: those of TRL's SFTTrainer.
constexpr bool of_labelled_tokens(Loss loss) {
  return loss == Loss::chunked_logprob || loss == Loss::chunked_nll || loss == Loss::raised_chunked_nll;
}

/// What a run does: the files of src/estimate/recipes. reference_free: TRL's ORPO and CPO. reward: a model of rewards.
/// distillation: TRL's GKD. reward_values: LLaMA-Factory's, whose values come beside the logits.
/// raised_pairs: torchtune's DPO, whose models return logits in fp32. sentence_embedding: sentence-transformers'
/// trainer, whose rows have a text in each column.
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
  raised_pairs,
  sentence_embedding
};
inline constexpr std::array<std::string_view, 12> recipe_names{
    "supervised",   "dpo",           "reference_free", "reward",
    "kto",          "grpo",          "paired_logits",  "unpaired_logits",
    "distillation", "reward_values", "raised_pairs",   "sentence_embedding"};
constexpr std::string_view name_of(RecipeKind kind) { return recipe_names[static_cast<std::size_t>(kind)]; }

/// What a policy is held against. adapter_off: itself without its adapter. model: another of the same weights.
/// precomputed: itself, once, before the first step.
enum class Reference : std::uint8_t { none, adapter_off, model, precomputed };
inline constexpr std::array<std::string_view, 4> reference_names{"none", "adapter_off", "model", "precomputed"};

/// What writes a rollout's completions. elsewhere: another process. transformers: its generate(), on the GPU that
/// trains. vllm: vLLM in the process that trains (TRL's vllm_mode colocate).
enum class Generation : std::uint8_t { elsewhere, transformers, vllm };
inline constexpr std::array<std::string_view, 3> generation_names{"elsewhere", "transformers", "vllm"};

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

}  // namespace oomplan
