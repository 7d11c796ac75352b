// What plays a model: its modules, built from an Architecture, and the values that flow between them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/pattern.hpp"
#include "oomplan/core/result.hpp"
#include "parameter.hpp"
#include "policy.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// What layers of one model are given apart from each other: kinds of masks, and rotary embeddings of their own.
enum class Span : std::uint8_t { full, sliding, chunked };
inline constexpr std::array<std::string_view, 3> span_names{"full", "sliding", "chunked"};

/// A DynamicCache that a forward pass fills, and others after it lengthen.
class KeyValues {
 public:
  /// `bucket`: what it counts as; none: as what is made beside it.
  explicit KeyValues(Torch& torch, std::optional<Bucket> bucket = {}, CacheKind kind = CacheKind::copies)
      : torch_(torch), bucket_(bucket), kind_(kind) {}
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;
  ~KeyValues();
  /// DynamicLayer.update: what it has of the layer, which is nothing in the first pass, and `states` put together.
  Tensor add(const Tensor& states);
  /// What accelerate makes of one that is part of the output: all of it in fp32, then the rest goes.
  void raise();
  /// Another forward pass begins.
  void begin_pass() { next_ = 0; }
  /// What passes over more tokens leave of it: each layer's keys, then its values, are put together anew.
  void lengthen(std::int64_t tokens);

 private:
  Torch& torch_;
  std::optional<Bucket> bucket_;
  CacheKind kind_;
  std::vector<std::pair<std::int16_t, Tensor>> held_{};  ///< By layer, in the order in which they are asked for.
  std::size_t next_ = 0;
};

/// Keys and values that some blocks leave for later ones (KVSharingDict).
struct SharedStates {
  std::array<std::array<Tensor, 2>, span_names.size()> of{};
};

/// What a model that is asked for its routers' logits collects until its forward function returns (transformers 5.23.0:
/// utils/output_capturing.py).
class RouterLogits {
 public:
  struct Router {
    std::int16_t layer = 0;
    Tensor logits{};  ///< Tokens × experts.
    std::int64_t per_token = 0;
  };
  explicit RouterLogits(Torch& torch) : torch_(torch) {}
  RouterLogits(const RouterLogits&) = delete;
  RouterLogits& operator=(const RouterLogits&) = delete;
  ~RouterLogits() { close(); }
  void take(const Tensor& logits, std::int64_t per_token);
  /// The model's forward function returns: what a checkpoint plays again leaves nothing.
  void close();
  const std::vector<Router>& routers() const { return routers_; }

 private:
  Torch& torch_;
  std::vector<Router> routers_{};
  bool open_ = true;
};

/// What every block is called with besides the hidden states; a checkpoint holds on to it.
struct Arguments {
  template <class T>
  using BySpan = std::array<T, span_names.size()>;
  Tensor position_ids{};
  BySpan<Tensor> masks{};
  BySpan<bool> optional{};  ///< Masks that there are only where rows differ in length.
  BySpan<Tensor> cos{};
  BySpan<Tensor> sin{};
  Tensor recurrent_mask{};       ///< Of padded rows, what layers without attention get: 1 where a token is real.
  Tensor bias{};                 ///< Added to the products of queries and keys by their distance (ALiBi, T5).
  Tensor relative{};             ///< The distance of each pair of tokens (DeBERTa).
  Tensor relative_embeddings{};  ///< Of distances.
  Tensor encoder{};              ///< The encoder's last hidden states, which a decoder attends to,
  Tensor cross_mask{};           ///< … with this mask
  Tensor cross_bias{};           ///< … and this bias.
  Tensor row_mask{};             ///< Of rows of cross_mask, 0 where all of one is masked.
  Tensor per_layer{};            ///< An input of this block alone, beside the hidden states.
  Tensor original{};             ///< The embedding's output, which some blocks read again (Zamba).
  std::shared_ptr<SharedStates> shared{};
  std::shared_ptr<KeyValues> cache{};             ///< Which the attention of each block fills, where there is one.
  std::shared_ptr<RouterLogits> router_logits{};  ///< None where nobody asks for them.

  Tensor& mask(Span span) { return masks[static_cast<std::size_t>(span)]; }
  bool& may_go(Span span) { return optional[static_cast<std::size_t>(span)]; }
};

/// What a vision tower leaves to the language model.
struct Seen {
  Tensor features{};           ///< A row for each token that an image is.
  std::vector<Tensor> deep{};  ///< Such features of the tower's earlier layers, for the first blocks (DeepStack).
  Tensor mask{};               ///< Where rows have them: batch × length × 1.
  std::vector<Tensor> kept{};  ///< What the outputs of the tower's classes hold until the model returns.

  /// Another tower comes: what this one left has names of its own, which live until the model returns.
  void keep_of_one() {
    for (Tensor* left : {&features, &mask}) {
      if (*left) kept.push_back(std::exchange(*left, {}));
    }
  }
};

class AltUpRouter;
struct VeraShared;

/// The variables of Gemma 3n's model and layers, which have several copies of the residual stream.
struct Streams {
  DType dtype = DType::fp32;    ///< Of inputs_embeds.
  Tensor target_magnitude{};    ///< Of the first copy, which the others are brought to,
  Tensor projected{};           ///< … the last of these as projected,
  Tensor magnitude{};           ///< … its own magnitude,
  std::vector<Tensor> parts{};  ///< … and all of them, before they are put together.
  Tensor predictions{};         ///< What a layer makes of all copies ahead of its own work,
  Tensor active{};              ///< … the one of these that it reads,
  Tensor laurel{};              ///< … and the low-rank residual of that.
  std::vector<Tensor> held{};   ///< Variables of a layer that nothing reads again.
  const AltUpRouter* router = nullptr;
};

/// The variables of a model's forward function, by the names that the framework's code gives them.
struct Stream {
  Tensor input_ids{};
  Tensor attention_mask{};  ///< As the collator makes it: 1 where a token is real.
  Tensor labels{};
  Tensor pixels{};             ///< As the processor hands them,
  Tensor sounds{};             ///< … and spectrograms.
  std::vector<Tensor> sent{};  ///< What else is in the batch.
  Seen seen{};
  Tensor taken{};                      ///< In a tower: the output of the layer that Segment::taken names.
  std::vector<Tensor> taken_states{};  ///< Where it names several: of each.
  Tensor position_ids{};
  Tensor position_mask{};  ///< Where positions are counted from a mask, and none was sent.
  Tensor inputs_embeds{};
  Tensor position_embeds{};
  Tensor time_embeds{};  ///< Of a denoiser's timesteps.
  Tensor hidden{};
  Tensor residual{};
  Tensor normed{};        ///< Where a block uses its first norm twice.
  Tensor attn_output{};   ///< Where a block holds on to it until it returns.
  Tensor attn_weights{};  ///< Of eager attention, held likewise; of the last block, where it returned them.
  std::array<Tensor, 2> block_weights{};  ///< Of both attentions, where a block returns them beside its biases.
  Tensor per_layer_inputs{};              ///< Of all blocks, batch × length × layers × width.
  Streams streams{};
  Tensor layer_output{};  ///< Of the last block, where the model holds on to it beside what it made of it.
  Arguments arguments{};
  std::optional<std::vector<Tensor>> all_hidden{};  ///< What went into each block, where the model keeps it.
  bool shares_bias = false;                         ///< Blocks hand on the biases that the first of them makes.
  Tensor decoder_ids{};
  Tensor logits{};
  Tensor loss{};
  Tensor router_loss{};  ///< What the trainer adds to it.
  std::vector<Tensor>
      returned{};  ///< What else the model's output holds (image_hidden_states, encoder_last_hidden_state).
  std::vector<Tensor> base_output{};  ///< What else the base model's output holds, until the whole's function returns.
  bool returns_hidden = false;        ///< It is asked to return all_hidden (output_hidden_states).

  /// The caller lets go of the model's output, but for the loss.
  void drop_output();
  /// The base model's forward returns: its locals die.
  void leave_base();
};

/// A weight, and the copy that is trained in its place where peft's modules_to_save names its module.
struct Weight {
  Tensor original{};
  Tensor copy{};

  /// The one that the model multiplies by.
  const Tensor& of(const Facts& facts) const { return copy && !facts.adapters_off ? copy : original; }
};

/// What a module plays with.
struct Play {
  Torch& torch;
  const Facts& facts;
  Policy& policy;
  std::shared_ptr<const Facts> own_facts{};  ///< Holds `facts`, where they are not the caller's.
};

/// A step of a model's forward pass with its weights; the counterpart of an nn.Module or of a line of its caller.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;
  virtual void forward(Play& play, Stream& s) const = 0;
  /// What the processor adds to a batch for it.
  virtual void collate(Torch&, const Facts&, Stream&) const {}
};

/// Makes modules' weights, in the order of model.parameters().
class Builder {
 public:
  Builder(Torch& with, const Facts& plan_facts, const Architecture& model, Policy& plan_policy)
      : torch(with), facts(plan_facts), architecture(model), policy(plan_policy) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  /// How the architecture's code calls its dropouts.
  using Dropout = Tensor (Torch::*)(const Tensor&, double);
  Dropout dropout() const { return architecture.functional_dropout ? &Torch::functional_dropout : &Torch::dropout; }
  /// Names of modules begin with whose they are, after those of the models built before.
  void own_modules(std::string owner, std::vector<std::string> before);

  /// A weight that is neither quantised nor adapted.
  Tensor weight(const std::string& name, const Dims& sizes, Part part);
  /// One that is never trained (torch.nn.Embedding with _freeze).
  Tensor frozen(const std::string& name, const Dims& sizes, Part part);
  /// The weight of an nn.Embedding. `adapts`: its caller plays the adapter that it may carry.
  Tensor embedding(const std::string& name, const Dims& sizes, bool adapts = false);
  /// That of a convolution. `adapts`: as above.
  Tensor convolution(const std::string& name, const Dims& sizes, bool adapts = false);
  /// The copy of the module `name`'s weight, where modules_to_save names that module (peft/utils/other.py:
  /// ModulesToSaveWrapper); else empty.
  Tensor saved_copy(const std::string& name, const std::string& weight, const Dims& sizes, Part part);
  /// A weight of an adapter; its parameter is called `name`, but for LoRA's, which are modules' weights.
  Tensor adapter_weight(const std::string& name, const Dims& sizes, DType dtype);
  /// What peft makes on the device as it adds an adapter, beside its weights: there as long as it is held.
  Tensor while_adapting(const Dims& sizes, DType dtype, const char* op);
  /// A storage of a quantised weight: no gradient, and one module attribute among others.
  Tensor quantized_storage(const Dims& sizes, DType dtype);
  /// The bytes of a 4-bit weight, of which ranks may each hold some.
  void packed_weight(std::int64_t bytes);
  /// A tensor that a 4-bit weight is made of, of which ranks may each hold some.
  Tensor packed_part(const Dims& sizes, DType dtype);
  /// The weight `name` is loaded from here on, and comes to so many bytes by transformers' count.
  void loads(const std::string& name, std::int64_t bytes);
  /// The dotted name of `name` below the module being built.
  std::string path(const std::string& name) const { return prefix.empty() ? name : prefix + "." + name; }
  std::int32_t module_id(const std::string& name);
  void count(std::int64_t elements, bool trained);
  /// Said once, however many layers find it.
  void add_once(Diagnostic problem);
  /// What is done to the whole model once every module is built, as the framework's loader does it.
  void finish_loading();
  /// How many of `count` each rank of tensor parallelism has, which is a problem where they cannot be shared equally.
  std::int64_t part_of(std::int64_t count, const std::string& name);
  /// How many rows of the vocabulary there are where the checkpoint has `rows`.
  std::int64_t enlarged(std::int64_t rows) const { return facts.vocabulary > 0 ? facts.vocabulary : rows; }
  /// How many of them the first rank of tensor parallelism has; the last may have fewer.
  std::int64_t vocabulary_part(std::int64_t rows) const {
    return divided_up(enlarged(rows), facts.tensor_parallel.ranks);
  }
  /// Whether an adapter is asked for on the module `name`. peft: a target names a module by its whole path or by the
  /// end of it; all-linear means linear layers but the head (tuners_utils.py: _maybe_include_all_linear_layers).
  bool targeted(const std::string& name, bool in_all_linear);
  bool targeted_by_layer(const std::string& full);
  /// Says of a module whose adapters are not played that the plan asks for some.
  void play_no_adapter(const std::string& name, std::string_view what);
  /// Whether the linear module `name` is quantised (quantizers_utils.py: should_convert_module).
  bool quantized(const std::string& name);
  /// Whether an adapter is asked for on the parameter `name` by itself (tuners_utils.py: _inject_parameters).
  bool parameter_targeted(const std::string& name);
  /// Whether the pattern holds for the module or parameter `name`, in all layers that the one being built stands for.
  /// Where it does in some, or where that takes too long to say, that is a problem; after one nothing is asked any
  /// more.
  bool matched(const Pattern& pattern, bool whole, const std::string& name, const Location& asked_at);
  /// Of modules_to_save, what saved_copy() was asked of no module for.
  std::vector<std::string> unsaved_modules() const;
  /// Of `layer_parts`, those that no module of a layer is.
  std::vector<std::string> unmatched_parts() const;
  /// The targets that no module had.
  std::vector<std::string> unmatched_targets() const;

  Torch& torch;
  Facts facts;  ///< Of the plan, but that `images` are what the segment being built is given.
  const Architecture& architecture;
  Policy& policy;
  std::string prefix{};              ///< "model.layers.*" while a layer is built.
  bool in_layer_norm = false;        ///< Weights are made of an nn.LayerNorm.
  std::optional<DType> own_dtype{};  ///< Of weights whose module says so, whatever the model is loaded in.
  std::int64_t repeats = 1;          ///< How many real layers the one being built stands for,
  std::int64_t first_layer = 0;      ///< … from this one of its segment on,
  std::int64_t layer_step = 1;       ///< … each so many further.
  std::int64_t parts = 1;            ///< How many ranks share the weight being made: its sizes are those of the first.
  std::int64_t padding = 0;          ///< Of its rows, those that the last part lacks.
  Parameters parameters{};           ///< All, in order; tied ones once.
  std::vector<std::string> modules{};  ///< Names, for Recorder's module ids.
  Tensor embedding_weight{};           ///< For a tied head.
  std::shared_ptr<VeraShared> vera{};  ///< Of VeRA, what all layers share, once one is adapted.
  std::int64_t total = 0;
  std::int64_t trained = 0;
  bool scans = false;        ///< An op plays transformers' own code for what packages of kernels have too.
  std::string shared_set{};  ///< While it is not empty, weights of a name belong to that set, once for all layers.
  bool remembers = false;    ///< A module keeps what a micro-batch made until it runs again.
  Diagnostics problems{};
  std::int64_t layers = 0;  ///< Of the segment being built.
  /// Of a picture, where its size says how many; the tower puts those of all pictures together. 0: as the plan has it.
  std::int64_t tiles_by_size = 0;
  std::int64_t media_tokens = 0;  ///< Those of a row that images and sounds stand for, as far as it is built.

 private:
  /// A weight of the checkpoint: where its events begin, and its name, cut where the layer's number stands.
  struct Loaded {
    std::size_t first = 0;
    std::string before{};
    std::int16_t layer = -1;
    std::string after{};
  };

  std::map<std::string, Tensor, std::less<>> shared_{};
  Pattern::Budget pattern_budget_{};
  std::set<std::string> matched_targets_{};
  std::set<std::string> matched_parts_{};
  std::set<std::string> saved_modules_{};
  std::set<StorageId> of_adapters_{};
  std::set<StorageId> of_copies_{};
  std::vector<Loaded> loaded_{};
  std::int64_t loaded_bytes_ = 0;  ///< Of all layers, as they stay.
  std::string owner_{};
  void load_in_order();
  Tensor unpacked(const std::string& name, const Dims& sizes, DType dtype, bool trains);
  void warm_up();
  void keep_in_16_bits();  ///< What a checkpoint has beyond the weights as they are quantised.
  void enlarge();
  void upcast();
  void raise_trained();
  bool added(const Parameter& parameter) const;  ///< By peft, to a model that is there.
  void cast(const Parameter& parameter, DType dtype);
  bool unfrozen(const std::string& name);
  bool in_trained_layer(const std::string& name);
  bool in_lora_layer(const std::string& full) const;
  /// Whether it holds for the name, which has to be so in all layers that this one stands for.
  bool in_layers(const std::function<bool(const std::string&)>& holds, const std::string& name,
                 const Location& asked_at);
  Tensor own_weight(const std::string& name, const Dims& sizes, Part part);
  Tensor register_weight(const std::string& name, const Dims& sizes, DType dtype, Part part, bool trained);
};

/// Reads an op's attributes out of an OpSpec; what is missing or of the wrong kind goes to the builder's problems.
class Attributes {
 public:
  Attributes(const OpSpec& spec, Builder& builder) : spec_(spec), builder_(builder) {}
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  /// 0 where it is not given or negative, which some configs say for "none".
  std::int64_t count(std::string_view name) const;
  /// The attribute `name` in parts of `by`, which divides it.
  std::int64_t quotient(std::string_view name, std::string_view by) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  /// Which of `names` is given; the first where none is.
  std::size_t choice(std::string_view name, std::span<const std::string_view> names) const;
  /// "full" where it is not given.
  Span span(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  const std::string& module() const { return spec_.module; }
  const Attribute* find(std::string_view name) const { return spec_.find(name); }
  /// The op asks for something that no code plays.
  void unmodelled(std::string_view feature) const;

 private:
  void problem(std::string_view name, std::string_view expected) const;
  const OpSpec& spec_;
  Builder& builder_;
};

/// How the code of transformers' decoder layers comes to what an op stands for.
enum class CalledBy : std::uint8_t {
  unknown,
  a_line,    ///< It is a line of the layer's own function.
  position,  ///< A module whose input is its first argument.
  name,      ///< A module whose input is a keyword argument, beside those that all layers share.
};

using MakeModule = std::unique_ptr<Module> (*)(const Attributes&, Builder&);

/// A row of the registry of ops: one file of ops/ each.
struct OpType {
  std::string_view name{};
  MakeModule make = nullptr;
  CalledBy called_by = CalledBy::unknown;
};

template <class M>
std::unique_ptr<Module> make_module(const Attributes& attributes, Builder& builder) {
  return std::make_unique<M>(attributes, builder);
}

/// The op of that name, or null.
const OpType* find_op(std::string_view name);

/// Allocations made while it lives belong to this bucket where nothing else is known of them.
class InBucket {
 public:
  InBucket(Torch& torch, Bucket bucket) : torch_(torch), old_(torch.recorder.scope.bucket) {
    torch.recorder.scope.bucket = bucket;
  }
  InBucket(const InBucket&) = delete;
  InBucket& operator=(const InBucket&) = delete;
  ~InBucket() { torch_.recorder.scope.bucket = old_; }

 private:
  Torch& torch_;
  Bucket old_;
};

}  // namespace oomplan::estimator
