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
#include "oomplan/plan/choices.hpp"
#include "oomplan/plan/loader_plan.hpp"
#include "oomplan/plan/mesh.hpp"

namespace oomplan {

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
  Setting<double> vllm_share{};                  ///< Of a GPU, by vllm: what it may take (gpu_memory_utilization).
  Setting<bool> vllm_sleeps{};                   ///< It lets go of weights and cache between rollouts.
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
  Setting<std::int64_t> columns{};  ///< Of sentence_embedding: texts in a row, each with an embedding of its own.
  Setting<std::int64_t> cached_rows{};  ///< Of cached_multiple_negatives: texts that are embedded at once.
  Setting<Pooling> pooling{};           ///< Of sentence_embedding.
  Setting<bool> normalized{};           ///< Of sentence_embedding: embeddings are brought to length 1 by the model.
  Setting<std::int64_t> dense_width{};  ///< Of sentence_embedding: of a layer after the pooling; 0: there is none.
  Setting<bool> neftune{};              ///< Noise is added to the embeddings in training (arXiv:2310.05914).
  friend bool operator==(const RecipeFacts&, const RecipeFacts&) = default;
};

/// Whether vLLM writes the completions on the GPU that trains.
inline bool has_vllm(const RecipeFacts& recipe) {
  return recipe.kind.value == RecipeKind::grpo && recipe.generation.value == Generation::vllm;
}

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
  Setting<std::int64_t> micro_batch_size{};  ///< Rows in one forward pass on one device.
  Setting<std::int64_t> sequence_length{};   ///< Tokens in a row after padding: the longest batch of the run.
  Setting<std::int64_t> target_length{};     ///< Of an encoder-decoder's labels; 0: as many as in a row.
  Setting<std::int64_t> anchor_length{};  ///< Of sentence_embedding: in the first column; 0: as many as in the others.
  Setting<std::vector<std::int64_t>> lengths{};  ///< Of each step's rows, where they vary; at most sequence_length.
  Setting<std::int64_t> gradient_accumulation_steps{};
  Setting<bool> mask_sent{};                  ///< A batch has an attention_mask, if of ones alone.
  Setting<bool> padding_mask{};               ///< Rows are padded, so attention gets a mask.
  Setting<std::int64_t> completion_length{};  ///< Tokens of a row that a loss counts; 0: all.
  Setting<std::int64_t> joined{};             ///< Rows that stand in one, each with positions of its own; 0: none.
  Setting<std::int64_t> max_steps{};          ///< Optimizer steps after which the run ends; 0: as many as it takes.
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
  Setting<std::int64_t> clip_milliseconds{};  ///< Of each; 0: not known.
  Setting<bool> token_types{};  ///< Rows say which of their tokens are of images though none is: a processor's do.
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
  /// Names of the lists of layers that those numbers are of; empty: of any.
  Setting<std::vector<std::string>> layers_pattern{};
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
