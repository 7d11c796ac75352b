#include "architecture_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "config_values.hpp"
#include "errors.hpp"
#include "fields.hpp"
#include "language.hpp"
#include "oomplan/core/dtype.hpp"
#include "oomplan/core/text.hpp"
#include "quantized_checkpoint.hpp"
#include "segments.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 51> known_keys{"model_types",
                                                      "task",
                                                      "rows",
                                                      "source",
                                                      "config",
                                                      "layers",
                                                      "block_module",
                                                      "block_class",
                                                      "tied_embeddings",
                                                      "max_positions",
                                                      "stem",
                                                      "body",
                                                      "kinds",
                                                      "block",
                                                      "before",
                                                      "after",
                                                      "tail",
                                                      "groups",
                                                      "head",
                                                      "heads",
                                                      "no_checkpointing",
                                                      "liger",
                                                      "expect",
                                                      "not_played",
                                                      "no_sdpa",
                                                      "expert_names",
                                                      "cut_cross_entropy",
                                                      "unsloth",
                                                      "unsloth_compiles",
                                                      "tensor_parallel",
                                                      "context_parallel",
                                                      "generates",
                                                      "sequence_classifier",
                                                      "class_defaults",
                                                      "language",
                                                      "tower",
                                                      "towers",
                                                      "silent",
                                                      "features",
                                                      "embedded",
                                                      "caches_unasked",
                                                      "caches_by_default",
                                                      "functional_dropout",
                                                      "no_router_loss",
                                                      "router_loss",
                                                      "shifts_logits",
                                                      "older_loss",
                                                      "older_code",
                                                      "merge",
                                                      "processor",
                                                      "linear_layers"};

std::optional<Task> task_of(Fields& fields) {
  const std::string name = fields.text("task");
  const auto end = task_names.begin() + own_tasks;
  const auto found = std::find(task_names.begin(), end, name);
  if (found != end) return static_cast<Task>(found - task_names.begin());
  if (!name.empty())
    fields.refuse(*fields.find("task"),
                  "\"task\" must be " + joined({task_names.begin(), end}) + ", not " + shown(name));
  return std::nullopt;
}

/// What the file says that a row is; of tokens where it says nothing.
Rows rows_of(Fields& fields) {
  const Node* node = fields.find("rows");
  if (node == nullptr) return Rows::tokens;
  const auto* const found = std::ranges::find(rows_names, node->text);
  if (found != rows_names.end()) return static_cast<Rows>(found - rows_names.begin());
  fields.refuse(*node, "\"rows\" must be " + joined({rows_names.begin(), rows_names.end()}) + ", not " + shown(*node));
  return Rows::tokens;
}

/// The value of `key` as a T, where there is one.
template <class T>
std::optional<T> value_as(Fields& fields, ConfigValues& values, std::string_view key, std::string_view what) {
  const Node* node = fields.required(key);
  const std::optional<Attribute> value = node != nullptr ? values.value_of(*node) : std::nullopt;
  if (value && std::holds_alternative<T>(*value)) return std::get<T>(*value);
  if (fields.errors().empty()) fields.refuse(*node, shown(key) + " must be " + std::string(what));
  return std::nullopt;
}

/// What the file says of itself; only its test reads it.
void check_expectations(Fields& fields) {
  const Node* node = fields.find("expect");
  if (node == nullptr) return;
  Fields expectations(fields.document(), *node, fields.errors());
  for (const Entry& entry : node->entries) expectations.count(entry.key);
}

/// The config's `dtype`, or `torch_dtype` as it was called before.
const Node* named_dtype(const Document& config) {
  for (const std::string_view key : {"dtype", "torch_dtype"}) {
    const Node* node = config.root.find(key);
    if (node != nullptr && node->kind != Node::Kind::null) return node;
  }
  return nullptr;
}

DType checkpoint_dtype(const Document& config, const Node& node, Diagnostics& errors) {
  const std::optional<DType> dtype = parse_dtype(node.text);
  if (dtype && is_floating(*dtype)) return *dtype;
  errors.push_back(error_at(config, node, "catalog/bad-value",
                            shown(node) + " is not a type that weights are trained in",
                            "known: float32, bfloat16 and float16."));
  return DType::fp32;
}

/// The value of a key of config.json, which "attn_config.clip_qkv" has in a mapping.
const Node* find_dotted(const Node& root, std::string_view key) {
  const std::size_t dot = key.find('.');
  const Node* mapping = dot == std::string_view::npos ? &root : root.find(key.substr(0, dot));
  return mapping == nullptr ? nullptr : mapping->find(key.substr(dot + 1));
}

bool switches_on(const Node& value) {
  if (value.is_sequence()) return std::ranges::any_of(value.items, switches_on);
  if (value.is_mapping()) return true;
  if (const std::optional<bool> boolean = value.as_boolean()) return *boolean;
  return value.as_number().value_or(0) != 0;
}

/// The method by which the checkpoint's weights are quantised; empty: they are not.
std::string quantized_by(const Document& config) {
  const Node* quantized = config.root.find("quantization_config");
  if (quantized == nullptr || quantized->kind == Node::Kind::null) return {};
  const Node* method = quantized->find("quant_method");
  const bool named = method != nullptr && method->is_scalar() && method->kind != Node::Kind::null;
  return named ? method->text : "unnamed";
}

constexpr std::string_view can_be_unpacked = "mxfp4";

std::optional<QuantizedCheckpoint> quantized_checkpoint(const Document& config) {
  return quantized_by(config) == "bitsandbytes" ? by_bitsandbytes(*config.root.find("quantization_config"))
                                                : std::nullopt;
}

/// Features that change memory and that no op plays: weights quantised in the checkpoint in a way that nothing reads,
/// and those that the architecture file names under `not_played` by the key that switches them on.
std::vector<std::string> not_played(const Document& config, bool is_read, Fields& fields) {
  std::vector<std::string> out;
  const std::string method = quantized_by(config);
  if (!method.empty() && method != can_be_unpacked && !is_read)
    out.push_back("weights quantized in the checkpoint" + (method == "unnamed" ? "" : " (" + method + ")"));
  const Node* features = fields.find("not_played");
  for (std::size_t i = 0; features != nullptr && i < features->entries.size(); ++i) {
    const Entry& feature = features->entries[i];
    const Node* value = find_dotted(config.root, feature.key);
    if (value != nullptr && switches_on(*value)) out.push_back(feature.value.text);
  }
  return out;
}

/// What a checkpoint of an encoder was trained as, where that is not to predict masked tokens (or labels of pixels): a
/// script that loads one asks for that head as a rule, and no key of a config says so.
std::string other_head(const Document& config, Task task) {
  const Node* classes = config.root.find("architectures");
  if (classes == nullptr || !classes->is_sequence() || classes->items.empty()) return {};
  const std::string& name = classes->items.front().text;
  const std::size_t at = name.find("For");
  if (task == Task::segmentation && name.ends_with("ForSemanticSegmentation")) return {};
  if (at == std::string::npos || name.ends_with("ForMaskedLM") || name.ends_with("ForPreTraining")) return {};
  return "the head of " + shown(name);
}

/// PreTrainedConfig.num_labels: the key, or how many names `id2label` has. Its default is two; an architecture whose
/// config class has another declares the key (BartConfig has three).
std::int64_t labels_of(const Document& config, const ConfigValues& values) {
  const auto declared = std::ranges::find(values.all(), std::string_view("num_labels"),
                                          [](const auto& value) -> std::string_view { return value.first; });
  const std::int64_t usual = declared == values.all().end() ? 2 : std::get<std::int64_t>(declared->second);
  constexpr std::int64_t most = 1 << 24;
  const Node* names = config.root.find("id2label");
  if (names != nullptr && names->is_mapping()) return std::ssize(names->entries);
  const Node* count = config.root.find("num_labels");
  return std::clamp(count == nullptr ? usual : count->as_integer().value_or(usual), std::int64_t{1}, most);
}

/// `true`: all, as of Llama; `false`: nothing; else each part by its name.
LigerParts liger_parts(Fields& fields, const Node& node) {
  using Norm = LigerParts::Norm;
  if (const std::optional<bool> all = node.as_boolean()) {
    return {.rms_norm = *all ? Norm::in_place : Norm::none, .rope = all, .glu = all, .layer_norm = false, .loss = all};
  }
  LigerParts out;
  const std::array<std::pair<std::string_view, std::optional<bool>*>, 4> switches{
      {{"rope", &out.rope}, {"glu", &out.glu}, {"layer_norm", &out.layer_norm}, {"loss", &out.loss}}};
  for (const Entry& part : node.entries) {
    const auto found = std::ranges::find(switches, part.key, [](const auto& row) { return row.first; });
    if (part.key == "rms_norm") {
      out.rms_norm = part.value.text == "in_place" ? Norm::in_place
                     : part.value.text == "copied" ? Norm::copied
                                                   : Norm::none;
    } else if (found != switches.end() && part.value.as_boolean()) {
      *found->second = part.value.as_boolean();
    } else {
      fields.refuse(part.value, "\"liger\" has rms_norm (in_place or copied), and rope, glu, layer_norm and loss");
    }
  }
  if (!node.is_mapping()) fields.refuse(node, "\"liger\" must be true, false or a mapping");
  return out;
}

/// The heads of other tasks, each by the task's name.
void read_heads(Architecture& out, Fields& fields, ConfigValues& values) {
  const Node* heads = fields.find("heads");
  for (std::size_t i = 0; heads != nullptr && i < heads->entries.size(); ++i) {
    const Entry& head = heads->entries[i];
    const auto found = std::ranges::find(task_names, head.key);
    if (found == task_names.end()) return fields.refuse(head.value, shown(head.key) + " is no task");
    out.heads.emplace_back(static_cast<Task>(found - task_names.begin()), op_of(fields, values, head.value));
  }
}

/// Whether the file names the key of config.json, played or not.
bool declares(Fields& fields, std::string_view key) {
  return std::ranges::any_of(std::array{"config", "not_played"}, [&](std::string_view section) {
    const Node* node = fields.find(section);
    return node != nullptr && node->find(key) != nullptr;
  });
}

void read_body(Architecture& out, Fields& fields, ConfigValues& values) {
  out.task = task_of(fields).value_or(Task::causal_lm);
  out.rows = rows_of(fields);
  out.tied_embeddings = value_as<bool>(fields, values, "tied_embeddings", "true or false").value_or(false);
  out.max_positions = value_as<std::int64_t>(fields, values, "max_positions", "a whole number").value_or(0);
  Kinds kinds;
  out.body = segments_in(fields, values, kinds);
  for (const Segment& segment : out.body) out.layers += std::ssize(segment.layers);
  out.tail = tail_of(fields, values, kinds);
  if (fields.find("cut_cross_entropy") != nullptr)
    out.cut_cross_entropy = value_as<bool>(fields, values, "cut_cross_entropy", "true or false").value_or(false);
  if (fields.find("unsloth") != nullptr)
    out.unsloth = value_as<bool>(fields, values, "unsloth", "true or false").value_or(false);
  if (fields.find("unsloth_compiles") != nullptr)
    out.unsloth_compiles = value_as<bool>(fields, values, "unsloth_compiles", "true or false").value_or(false);
  if (fields.find("tensor_parallel") != nullptr)
    out.tensor_parallel = value_as<bool>(fields, values, "tensor_parallel", "true or false").value_or(false);
  if (fields.find("context_parallel") != nullptr)
    out.context_parallel = value_as<bool>(fields, values, "context_parallel", "true or false").value_or(false);
  if (fields.find("generates") != nullptr)
    out.generates = value_as<bool>(fields, values, "generates", "true or false").value_or(false);
  if (fields.find("functional_dropout") != nullptr)
    out.functional_dropout = value_as<bool>(fields, values, "functional_dropout", "true or false").value_or(false);
  if (fields.find("router_loss") != nullptr)
    out.router_loss = value_as<double>(fields, values, "router_loss", "a number").value_or(0);
  if (fields.find("sequence_classifier") != nullptr)
    out.sequence_classifier = value_as<bool>(fields, values, "sequence_classifier", "true or false").value_or(true);
  if (const Node* head = fields.find("head")) out.head = op_of(fields, values, *head);
  read_heads(out, fields, values);
}

/// Families of which the code stands in the hub, beside the checkpoint, where a config.json does not say so itself.
constexpr std::array<std::string_view, 24> of_the_hub{
    "aquila", "baichuan", "btlm",      "chatglm",  "deepseek_vl_v2", "exaone",    "internlm", "internlm2",
    "jais",   "kimi_k2",  "minicpm",   "minicpmo", "minicpmv",       "mimo",      "molmo",    "nemotron-nas",
    "orion",  "phi3_v",   "phi3small", "phi4mm",   "qwen",           "replit_lm", "xverse",   "yuan"};

/// Families that transformers 5.23.0 has as backbones alone: no class of them has a head, or a loss.
constexpr std::array<std::string_view, 2> without_a_head{"dinov3_convnext", "dinov3_vit"};

std::string why_unknown(const Document& config, const Node& model_type) {
  if (config.root.find("auto_map") != nullptr) return ": its code comes with the checkpoint";
  if (std::ranges::count(of_the_hub, model_type.text) > 0)
    return ": its code is in the hub, beside the checkpoint, and not in transformers";
  if (std::ranges::count(without_a_head, model_type.text) > 0)
    return ": transformers 5.23.0 has no class of it with a head, so that what is trained is code of one's own";
  return "";
}

std::string known_families(const Node& model_type, const Catalog& catalog) {
  const std::vector<std::string> known = known_model_types(catalog);
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::optional<std::string> near = nearest(model_type.text, names);
  return (near ? "did you mean " + *near + "? " : "") + "oomplan models --families lists those that are known";
}

/// Of a family whose code stands in the hub, transformers' own class of the same weights.
constexpr std::array ported{std::pair<std::string_view, std::string_view>{"phi4mm", "phi4_multimodal"}};

std::string hint_for(const Node& model_type, const std::string& why, const Catalog& catalog) {
  const auto own = std::ranges::find(ported, model_type.text, &decltype(ported)::value_type::first);
  if (own != ported.end())
    return "transformers has a class of its own for it, " + std::string(own->second) +
           ", which is known: name a config.json of that model_type, if that is what is trained.";
  return why.empty() ? known_families(model_type, catalog) : "";
}

Diagnostic unknown(const Document& config, const Node& model_type, const Catalog& catalog) {
  const std::string why = why_unknown(config, model_type);
  return error_at(config, model_type, "catalog/unknown-architecture",
                  "model_type " + shown(model_type) + " is not an architecture that is known" + why,
                  hint_for(model_type, why, catalog));
}

/// Of a model of parts that has a file of its own for such a tower: both names ("llava_pixtral").
std::optional<DataFile> file_of_tower(const Document& config, const std::string& type, const Catalog& catalog) {
  const Node* tower = config.root.find("vision_config");
  const Node* kind = tower == nullptr ? nullptr : tower->find("model_type");
  if (kind == nullptr) return std::nullopt;
  return find_file("architectures", type + "_" + kind->text, catalog);
}

/// The key `model_type`, or the class that diffusers writes into its configs.
const Node* model_type_of(const Document& config) {
  const Node* type = config.root.find("model_type");
  return type != nullptr ? type : config.root.find("_class_name");
}

}  // namespace

Result<DataFile> architecture_file(const Document& config, const Catalog& catalog) {
  const Node* type = model_type_of(config);
  if (type == nullptr || type->kind == Node::Kind::null)
    return error_in(config, "catalog/missing-key", "\"model_type\" is missing");
  if (std::optional<DataFile> of_both = file_of_tower(config, type->text, catalog)) return *std::move(of_both);
  if (std::optional<DataFile> same_name = find_file("architectures", type->text, catalog)) return *std::move(same_name);
  for (const DataFile& file : mentioning(type->text, files_in("architectures", catalog)))
    if (const auto types = model_types_of(file); std::find(types.begin(), types.end(), type->text) != types.end())
      return file;
  return unknown(config, *type, catalog);
}

std::vector<std::string> model_types_of(const DataFile& file) {
  std::vector<std::string> out{std::string(file.name)};
  const Result<Document> document = parse(file);
  const Node* types = document ? document->root.find("model_types") : nullptr;
  for (std::size_t i = 0; types != nullptr && i < types->items.size(); ++i)
    if (types->items[i].text != file.name) out.push_back(types->items[i].text);
  return out;
}

std::vector<Family> families_of(const DataFile& file) {
  std::vector<Family> out;
  const Result<Document> document = parse(file);
  if (!document) return out;
  const auto says = [&](std::string_view key, std::string_view value = {}) {
    const Node* node = document->root.find(key);
    return node != nullptr && (value.empty() || node->text.starts_with(value));
  };
  Family family;
  const auto add = [&](std::string_view feature, bool is_modelled) {
    ++family.features;
    if (!is_modelled) family.not_modelled.emplace_back(feature);
  };
  add("all of its config", !says("not_played"));
  if (says("source", "transformers")) add("Liger", says("liger"));
  if (says("source", "transformers") && says("task", "causal_lm")) {
    add("cut cross entropy", says("cut_cross_entropy"));
    add("Unsloth", says("unsloth"));
    add("tensor parallelism", says("tensor_parallel"));
    add("context parallelism", says("context_parallel"));
    add("generation", says("generates"));
  }
  for (std::string& type : model_types_of(file)) {
    family.model_type = std::move(type);
    out.push_back(family);
  }
  return out;
}

Result<Architecture> read_architecture(const Document& config, const DataFile& file, const Catalog& catalog) {
  const Result<Document> document = parse(file);
  if (!document) return document.errors();
  Diagnostics errors;
  Fields fields(*document, document->root, errors);
  fields.only(known_keys);
  const Node* declarations = fields.required("config");
  if (!errors.empty()) return errors;
  ConfigValues values(config, *document, *declarations, errors);
  Architecture out;
  out.name = file.name;
  out.model_type = model_type_of(config)->text;
  const Node* dtype = named_dtype(config);
  out.names_dtype = dtype != nullptr;
  out.unseen_dtype = dtype != nullptr && dtype->text == "unseen";
  if (dtype != nullptr && !out.unseen_dtype) out.checkpoint_dtype = checkpoint_dtype(config, *dtype, errors);
  if (quantized_by(config) == can_be_unpacked) out.packed = can_be_unpacked;
  out.unseen_dtype = out.unseen_dtype || (!out.packed.empty() && !out.names_dtype);
  out.quantized = quantized_checkpoint(config);
  out.not_played = not_played(config, out.quantized.has_value(), fields);
  out.router_logits = declares(fields, "output_router_logits");
  if (fields.find("block_class") != nullptr) out.block_class = fields.text("block_class");
  if (fields.find("no_sdpa") != nullptr) out.no_sdpa = fields.text("no_sdpa");
  if (fields.find("no_checkpointing") != nullptr) out.no_checkpointing = fields.text("no_checkpointing");
  if (fields.find("no_router_loss") != nullptr) out.no_router_loss = fields.text("no_router_loss");
  out.expert_names = fields.texts("expert_names");
  out.linear_layers = fields.texts("linear_layers");
  if (errors.empty()) {
    fields.find("language") == nullptr ? read_body(out, fields, values)
                                       : read_parts({config, fields, values, catalog}, out);
  }
  if (const Node* liger = fields.find("liger"); liger != nullptr && errors.empty())
    out.liger = liger_parts(fields, *liger);
  if (out.task == Task::masked_lm || out.task == Task::segmentation) out.other_head = other_head(config, out.task);
  out.labels = labels_of(config, values);
  check_expectations(fields);
  if (!errors.empty()) return errors;
  out.config = values.all();
  return out;
}

}  // namespace oomplan::catalog
