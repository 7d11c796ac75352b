// A model as data: which ops in which order, with the sizes of one checkpoint filled in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "oomplan/core/dtype.hpp"

namespace oomplan {

using Attribute = std::variant<std::int64_t, double, bool, std::string>;

/// One step of a model's forward pass: an op (a file in src/estimate/ops) with its sizes. `module` is the submodule's
/// name below its parent, as the framework's state dict has it ("self_attn", "model.embed_tokens").
struct OpSpec {
  std::string op{};
  std::string module{};
  std::vector<std::pair<std::string, Attribute>> attributes{};

  const Attribute* find(std::string_view name) const;
  friend bool operator==(const OpSpec&, const OpSpec&) = default;
};

/// What the model is trained to do; decides inputs, head and loss.
enum class Task : std::uint8_t {
  causal_lm,
  masked_lm,
  sequence_to_sequence,
  classification,  ///< A label for each picture or sound.
  segmentation,    ///< A label for each pixel.
  ctc,             ///< Labels in order, without their places (connectionist temporal classification).
  contrastive,     ///< Pairs of a picture and a text, told from all others of the batch.
  denoising,       ///< The noise that was added to latents.
  sequence_classification,
  token_classification,
  question_answering,  ///< The first and the last token of an answer, in each row.
  multiple_choice,     ///< Which of the texts of a row.
  sentence_embedding   ///< One vector for each text of a row (sentence-transformers).
};
inline constexpr std::array<std::string_view, 13> task_names{"causal_lm",
                                                             "masked_lm",
                                                             "sequence_to_sequence",
                                                             "classification",
                                                             "segmentation",
                                                             "ctc",
                                                             "contrastive",
                                                             "denoising",
                                                             "sequence_classification",
                                                             "token_classification",
                                                             "question_answering",
                                                             "multiple_choice",
                                                             "sentence_embedding"};
/// Those of which a row has one label, or one at each end of an answer.
inline constexpr bool labels_rows(Task task) {
  return task == Task::classification || task == Task::sequence_classification || task == Task::question_answering ||
         task == Task::multiple_choice;
}
/// An architecture is of one of the first of them; the others are heads that it may have instead.
inline constexpr std::size_t own_tasks = 8;

/// What a row of the batch is: tokens, a picture, a sound of so many samples as the sequence is long, a picture and
/// tokens, or the latents of a picture and the embeddings of a text of so many tokens.
enum class Rows : std::uint8_t { tokens, pictures, sound, pairs, latents };
inline constexpr std::array<std::string_view, 5> rows_names{"tokens", "pictures", "sound", "pairs", "latents"};

/// Layers in a row below one module, and what is played before the first of them.
struct Segment {
  std::string module{};  ///< "model.layers".
  std::vector<OpSpec> stem{};
  std::vector<std::vector<OpSpec>> kinds{};   ///< The block of each kind of layer.
  std::vector<std::vector<OpSpec>> before{};  ///< Of each kind, what the model does before it calls such a layer,
  std::vector<std::vector<OpSpec>> after{};   ///< … and with what the layer gives.
  std::vector<std::uint8_t> layers{};         ///< The kind of each layer.
  std::int64_t groups = 0;  ///< Layers share their weights: each of so many groups in a row has one set; 0: none do.
  bool decodes = false;     ///< It runs on the targets, not on the rows.
  bool tower = false;   ///< Of images or sound: played apart, on a stream of its own, and only where rows have some.
  bool hears = false;   ///< It has to do with sounds, not with images: a tower, or the steps that merge what one made.
  bool merges = false;  ///< Its stem is what the whole does with a tower's features before it calls another one.
  bool silent = false;  ///< Of a tower: no row has anything for it. It is held, and not played.
  std::vector<OpSpec> tail{};  ///< Of a tower: what makes the language model's features of its output.
  std::optional<std::int64_t>
      taken{};  ///< Of a tower: the layer whose output the features are made of, not the last's.
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// What Liger has for a model, as the ops play it; what has no value is not known.
struct LigerParts {
  enum class Norm : std::uint8_t { none, in_place, copied };  ///< Where the norm's backward pass puts its gradient.
  std::optional<Norm> rms_norm{};
  std::optional<bool> rope{};
  std::optional<bool> glu{};
  std::optional<bool> layer_norm{};
  std::optional<bool> loss{};  ///< Fused linear cross entropy.
  friend bool operator==(const LigerParts&, const LigerParts&) = default;
};

/// The segments of the body one after the other, then tail: what the model is but for its head.
/// Linear layers that bitsandbytes quantized before the checkpoint was saved, as its config.json says.
struct QuantizedCheckpoint {
  bool seen = true;         ///< Whether more than the method is known; else what follows is not.
  int bits = 4;             ///< 4 or 8.
  std::string kind{"nf4"};  ///< Of 4 bits: "nf4" or "fp4".
  bool nested = false;      ///< The scales are quantized too.
  DType compute = DType::fp32;
  std::string storage{"uint8"};
  std::optional<std::vector<std::string>> skipped{};  ///< Modules that were left as they are; nothing: the head.
};

struct Architecture {
  std::string name{};        ///< The file in models/architectures.
  std::string model_type{};  ///< As in config.json.
  std::string source{};      ///< Where the sizes come from: a preset's id or a path.
  Task task = Task::causal_lm;
  Rows rows = Rows::tokens;
  DType checkpoint_dtype = DType::fp32;  ///< config.json's dtype / torch_dtype.
  bool names_dtype = true;               ///< Whether config.json says so; else fp32 is what transformers takes.
  bool unseen_dtype = false;             ///< Nobody saw what config.json says.
  std::optional<QuantizedCheckpoint> quantized{};
  std::string packed{};     ///< What its weights are packed in that a loader can make whole ("mxfp4").
  std::int64_t layers = 0;  ///< Of all segments.
  bool tied_embeddings = false;
  std::int64_t max_positions = 0;  ///< Longest sequence that the position embedding can address; 0: no limit.
  std::int64_t parameters = 0;     ///< The exact count that the preset states; 0: none stated.
  LigerParts liger{};
  bool unsloth = false;           ///< Whether Unsloth's layers for it are played.
  bool unsloth_compiles = false;  ///< Whether steps of its code were measured as Unsloth has torch.compile run it.
  bool tensor_parallel = false;   ///< Whether ranks that share its matrices were measured.
  bool context_parallel = false;  ///< Whether ranks that share its rows were measured.
  bool generates = false;         ///< Whether runs of its generate() were measured.
  /// What the model's own files ask of generate() beyond what a trainer says itself; empty: nothing that was seen.
  std::string generation_asks{};
  bool cut_cross_entropy = false;  ///< Whether Axolotl's fork has a forward pass for it, as Llama's (patch.py).
  std::vector<std::string> expert_names{};  ///< Gate, up and down, as peft knew them before they were fused.
  bool sequence_classifier = true;          ///< Whether transformers has ...ForSequenceClassification.
  std::string no_checkpointing{};  ///< Where it says that it refuses gradient checkpointing; empty: it does not.
  std::string other_head{};        ///< What the checkpoint has in place of its task's head, as config.json says.
  std::int64_t labels = 2;         ///< Of a classifier, by the config.
  std::string block_class{};       ///< Of its blocks in transformers, by which FSDP wraps them; empty: of several.
  std::string no_sdpa{};           ///< Where transformers says that it has no sdpa for the model; empty: it has.
  bool router_logits =
      false;  ///< Its config has output_router_logits: a mixture of experts, with a loss of the router.
  bool functional_dropout =
      false;                     ///< Its dropouts are calls of a function, which no trainer finds to switch them off.
  double router_loss = 0;        ///< By how much it counts by the config; 0: the config has no such key.
  std::string no_router_loss{};  ///< Where TRL's head that makes it stops at the model; empty: it does not.
  /// Its language model fills a key-value cache though the config of the whole says that none is used: its forward
  /// hands no use_cache on.
  bool caches_unasked = false;
  /// The same where a call says nothing, as the Trainer's does not: the whole takes use_cache, and the language model's
  /// own config decides.
  bool caches_by_default = false;
  std::vector<std::string> not_played{};     ///< Features that the config switches on and no op plays.
  std::vector<std::string> linear_layers{};  ///< Those that peft adapts, where it refuses all-linear; else empty.
  std::vector<Segment> body{};
  OpSpec processor{};  ///< What becomes of a picture before the model sees it: a rule of src/estimate/pictures.cpp.
  OpSpec sound_processor{};  ///< … and of a sound: src/estimate/sounds.cpp.
  std::vector<OpSpec> tail{};
  OpSpec head{};  ///< What makes logits of the hidden states: a file in src/estimate/heads.
  std::vector<std::pair<Task, OpSpec>> heads{};             ///< Those of other tasks.
  std::vector<std::pair<std::string, Attribute>> config{};  ///< The config keys read, for reports.
  std::shared_ptr<const Architecture> teacher{};            ///< Of the model that it learns from; null: none.
};

/// Whether it sees or hears.
inline bool has_tower(const Architecture& model) { return std::ranges::any_of(model.body, &Segment::tower); }

/// The head that the model has for another task than its own; null: none.
inline const OpSpec* head_for(const Architecture& model, Task task) {
  const auto found = std::ranges::find(model.heads, task, &std::pair<Task, OpSpec>::first);
  return found == model.heads.end() ? nullptr : &found->second;
}

/// The rows of its embedding, by the key that nearly all configs have; 0 where its own has none.
inline std::int64_t vocabulary_of(const Architecture& model) {
  const auto found = std::ranges::find(model.config, "vocab_size", [](const auto& row) { return row.first; });
  const auto* size = found == model.config.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return size == nullptr ? 0 : *size;
}

/// Whether a layer has an op of which `test` is true.
template <class Test>
bool any_op(const Segment& segment, const Test& test) {
  return std::ranges::any_of(segment.kinds, [&](const auto& ops) { return std::ranges::any_of(ops, test); });
}
template <class Test>
bool any_op(const Architecture& model, const Test& test) {
  return std::ranges::any_of(model.body, [&](const Segment& segment) { return any_op(segment, test); });
}

}  // namespace oomplan
