#include "language.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "architecture_file.hpp"
#include "errors.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "oomplan/catalog/older_code.hpp"
#include "segments.hpp"

namespace oomplan::catalog {
namespace {

constexpr std::array<std::string_view, 17> part_keys{
    "key",  "model_type", "types",  "module", "tied",     "flat",  "defaults",  "taken",   "given",
    "held", "optional",   "always", "name",   "features", "merge", "processor", "or_input"};

bool has(const Node& mapping, std::string_view key) {
  const Node* node = mapping.find(key);
  return node != nullptr && node->kind != Node::Kind::null;
}

void put_missing(Node& mapping, const Node* values) {
  for (std::size_t i = 0; values != nullptr && i < values->entries.size(); ++i) {
    const Entry& entry = values->entries[i];
    if (!has(mapping, entry.key)) put(mapping, entry.key, entry.value);
  }
}

Node scalar(Node::Kind kind, std::string text) {
  Node out;
  out.kind = kind;
  out.text = std::move(text);
  return out;
}

/// The mapping of config.json that a key names, which may be inside another ("thinker_config.text_config").
const Node* below(const Node& root, std::string_view key) {
  const Node* at = &root;
  while (at != nullptr) {
    const std::size_t dot = key.find('.');
    at = at->is_mapping() ? at->find(key.substr(0, dot)) : nullptr;
    if (dot == std::string_view::npos) return at;
    key.remove_prefix(dot + 1);
  }
  return nullptr;
}

/// The config of a part: what stands under its key, or what the class takes where nothing does.
Document config_of(const Whole& whole, const Fields& part) {
  Document out{whole.config.file, whole.config.syntax, whole.config.text, {}};
  const Node* own = below(whole.config.root, part.find("key")->text);
  out.root.kind = Node::Kind::mapping;
  if (own != nullptr && own->is_mapping()) {
    out.root = *own;
  } else if (part.find("flat") != nullptr) {
    out.root = whole.config.root;  // Hub configs of before there were parts.
  } else {
    put_missing(out.root, part.find("defaults"));
  }
  // Of the whole model: flat, or of a checkpoint that calls its tower so.
  const Node* type = out.root.find("model_type");
  const bool of_whole = type != nullptr && type->text == whole.config.root.find("model_type")->text;
  if (!has(out.root, "model_type") || of_whole) put(out.root, "model_type", *part.find("model_type"));
  return out;
}

/// What the whole model's config says goes for its language model too; where it says no, some classes ask the part.
void tie(const Whole& whole, const Fields& part, Node& language) {
  const Node* own = whole.config.root.find("tie_word_embeddings");
  const std::string usual = part.find("tied") == nullptr ? "false" : part.find("tied")->text;
  const auto given = [](const Node* node) { return node == nullptr ? std::nullopt : node->as_boolean(); };
  const bool tied = given(own).value_or(usual == "true") ||
                    (usual == "either" && given(language.find("tie_word_embeddings")).value_or(false));
  put(language, "tie_word_embeddings", scalar(Node::Kind::boolean, tied ? "true" : "false"));
}

/// What the whole tells its language model: numbers that its own keys do not have.
void give(const Whole& whole, const Fields& part, Node& language) {
  const Node* given = part.find("given");
  for (std::size_t i = 0; given != nullptr && i < given->entries.size(); ++i) {
    const std::optional<Attribute> value = whole.values.value_of(given->entries[i].value);
    const auto* number = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    if (number != nullptr) put(language, given->entries[i].key, scalar(Node::Kind::integer, std::to_string(*number)));
  }
}

/// "model.layers" of a language model that is a part: "model.language_model.layers".
void move_below(std::string& module, const std::string& part) {
  if (module.starts_with("model.")) module = part + module.substr(5);
}

void move_below(std::vector<OpSpec>& ops, const std::string& part) {
  for (OpSpec& op : ops) move_below(op.module, part);
}

/// A part of another kind than those that the file was held against.
bool is_known(Fields& part, const Document& config) {
  const std::vector<std::string> types = part.texts("types");
  return std::ranges::count(types.empty() ? std::vector{part.text("model_type")} : types,
                            config.root.find("model_type")->text) > 0;
}

Diagnostic unknown_part(const Whole& whole, const Fields& part, const Document& config) {
  const Node& type = *config.root.find("model_type");
  return error_at(config, type, "catalog/unknown-architecture",
                  shown(part.find("key")->text) + " of model_type " + shown(type) + " is not known in " +
                      shown(*whole.config.root.find("model_type")));
}

Result<Architecture> language_of(const Whole& whole, Fields& part) {
  Document config = config_of(whole, part);
  if (!is_known(part, config)) return unknown_part(whole, part, config);
  tie(whole, part, config.root);
  give(whole, part, config.root);
  const Result<DataFile> file = architecture_file(config, whole.catalog);
  if (!file) return file.errors();
  const Result<Document> text = parse(*file);
  if (!text) return text.errors();
  put_missing(config.root, text->root.find("class_defaults"));
  Result<Architecture> out = read_architecture(config, *file, whole.catalog);
  if (!out) return out;
  const std::string module = part.text("module");
  for (Segment& segment : out->body) {
    move_below(segment.module, module);
    move_below(segment.stem, module);
    for (std::vector<OpSpec>& steps : segment.before) move_below(steps, module);
    for (std::vector<OpSpec>& steps : segment.after) move_below(steps, module);
  }
  move_below(out->tail, module);
  return out;
}

void prefix(std::vector<OpSpec>& ops, const std::string& module) {
  for (OpSpec& op : ops) {
    if (!op.module.empty()) op.module = module + "." + op.module;
  }
}

/// One hidden state, or those of a list ("-2|-5|6").
std::vector<std::int64_t> taken_in(const Whole& whole, const Fields& part) {
  const Node* node = part.find("taken");
  const std::optional<Attribute> value = node != nullptr ? whole.values.value_of(*node) : std::nullopt;
  if (!value) return {};
  if (const auto* layer = std::get_if<std::int64_t>(&*value)) return {*layer};
  std::vector<std::int64_t> out;
  if (const auto* list = std::get_if<std::string>(&*value)) {
    std::istringstream text(*list);
    for (std::string number; std::getline(text, number, '|');) out.push_back(std::stoll(number));
  }
  return out;
}

/// The tower, and the values of its keys, as `name`.key.
Segment tower_of(const Whole& whole, Fields& part, const std::string& name) {
  Diagnostics& errors = whole.fields.errors();
  const Document config = config_of(whole, part);
  const std::optional<DataFile> file = find_file("towers", config.root.find("model_type")->text, whole.catalog);
  if (!file || !is_known(part, config)) return errors.push_back(unknown_part(whole, part, config)), Segment{};
  const Result<Document> text = parse(*file);
  if (!text) return errors.insert(errors.end(), text.errors().begin(), text.errors().end()), Segment{};
  Fields fields(*text, text->root, errors);
  const Node* declarations = fields.required("config");
  if (declarations == nullptr) return {};
  ConfigValues values(config, *text, *declarations, errors);
  if (!errors.empty()) return {};
  const std::vector<std::int64_t> taken = taken_in(whole, part);
  Segment out = tower_in(fields, values, taken);
  std::set<std::int64_t> seen;
  for (const std::int64_t state : taken) {
    const std::int64_t states = std::ssize(out.layers) + 1;
    const std::int64_t at = state < 0 ? states + state : state;
    if (!seen.insert(at).second) {
      whole.values.refuse(*part.find("taken"), "hidden state " + std::to_string(state) + " is taken twice");
      continue;
    }
    if (at == 0 && part.find("or_input") != nullptr) continue;  // The op that takes it says so, where there is any.
    if ((at >= 1 && at < states) || !errors.empty()) continue;
    whole.values.refuse(*part.find("taken"), "features are taken of hidden state " + std::to_string(state) +
                                                 ", which none of the " + std::to_string(out.layers.size()) +
                                                 " layers leaves");
  }
  const std::string module = part.text("module");
  out.module = module + "." + out.module;
  prefix(out.stem, module);
  for (std::vector<OpSpec>& steps : out.before) prefix(steps, module);
  for (std::vector<OpSpec>& steps : out.after) prefix(steps, module);
  prefix(out.tail, module);
  for (const auto& [key, value] : values.all()) whole.values.provide(name + "." + key, value);
  return out;
}

/// A tower that no row has anything for, where the config has one or there is one `always`; its `held` layers stand
/// beside it.
std::optional<Segment> silent_tower(const Whole& whole) {
  const Node* node = whole.fields.find("silent");
  if (node == nullptr) return std::nullopt;
  Fields part(whole.fields.document(), *node, whole.fields.errors());
  part.only(part_keys);
  for (const std::string_view key : {"key", "model_type", "module"}) part.required(key);
  if (!whole.fields.errors().empty()) return std::nullopt;
  if (part.find("always") == nullptr && !has(whole.config.root, part.text("key"))) return std::nullopt;
  Segment out = tower_of(whole, part, "silent");
  out.silent = true;
  if (!whole.fields.errors().empty()) return std::nullopt;
  const std::vector<OpSpec> held = ops_in(part, whole.values, "held");
  out.tail.insert(out.tail.end(), held.begin(), held.end());
  return out;
}

/// A tower, what comes of its output last, and what the whole does with that.
struct Tower {
  Segment segment{};
  std::vector<OpSpec> merge{};
  OpSpec processor{};
  std::string key{};         ///< Of config.json.
  bool is_left_out = false;  ///< transformers builds none (SubConfigSpec(optional=True)).
};

/// `fields` has features, merge and processor beside the part, or as its own keys.
Tower tower_with(const Whole& whole, Fields& part, Fields& fields, const std::string& name) {
  Tower out{tower_of(whole, part, name)};
  if (!whole.fields.errors().empty()) return out;
  const std::vector<OpSpec> features = ops_in(fields, whole.values, "features");
  out.segment.tail.insert(out.segment.tail.end(), features.begin(), features.end());
  out.merge = ops_in(fields, whole.values, "merge");
  if (const Node* processor = fields.find("processor")) out.processor = op_of(fields, whole.values, *processor);
  return out;
}

/// The only one, under `tower`; or those of the list `towers`, in the order in which the whole calls them.
std::vector<Tower> towers_of(const Whole& whole) {
  Fields& fields = whole.fields;
  std::vector<Tower> out;
  const Node* list = fields.find("towers");
  const auto add = [&](const Node& node, Fields* joints) {
    Fields part(fields.document(), node, fields.errors());
    part.only(part_keys);
    for (const std::string_view key : {"key", "model_type", "module"}) part.required(key);
    if (joints == nullptr) part.required("name");
    if (!fields.errors().empty()) return;
    out.push_back(
        tower_with(whole, part, joints == nullptr ? part : *joints, joints == nullptr ? part.text("name") : "tower"));
    out.back().is_left_out = part.find("optional") != nullptr && !has(whole.config.root, part.text("key"));
    out.back().key = part.text("key");
  };
  if (list == nullptr) {
    if (const Node* only = fields.required("tower")) add(*only, &fields);
    return out;
  }
  for (const Node& node : list->items) add(node, nullptr);
  if (out.empty() && fields.errors().empty()) fields.refuse(*list, "\"towers\" must be a list of towers");
  return out;
}

/// A model of the language model's segments in which the features of towers are merged after its embeddings. `embedded`
/// is what the whole does once its tokens are embedded.
void join(Architecture& out, std::vector<Tower> towers, const std::vector<OpSpec>& embedded) {
  Segment& language = out.body.front();
  const auto embedding = std::ranges::find(language.stem, "embedding", &OpSpec::op);
  auto after = embedding == language.stem.end() ? embedding : embedding + 1;
  std::vector<Segment> body(1);
  Segment& first = body.front();
  first.stem.assign(language.stem.begin(), after);
  first.stem.insert(first.stem.end(), embedded.begin(), embedded.end());
  for (; after != language.stem.end() && after->op == "per_layer_embedding"; ++after) first.stem.push_back(*after);
  language.stem.erase(language.stem.begin(), after);
  for (Tower& tower : towers) {
    const bool hears = tower.segment.hears;
    (hears ? out.sound_processor : out.processor) = std::move(tower.processor);
    out.layers += std::ssize(tower.segment.layers);
    body.push_back(std::move(tower.segment));
    if (!hears && &tower == &towers.back()) {
      language.stem.insert(language.stem.begin(), tower.merge.begin(), tower.merge.end());
      continue;
    }
    Segment& merging = body.emplace_back();
    merging.merges = true;
    merging.hears = hears;
    merging.stem = std::move(tower.merge);
  }
  out.body.insert(out.body.begin(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
}

/// What the files of parts say of training by themselves goes for the whole only where its own file says so.
Architecture of_whole(Architecture language, const Architecture& out) {
  language.name = out.name;
  language.model_type = out.model_type;
  language.checkpoint_dtype = out.checkpoint_dtype;
  language.names_dtype = out.names_dtype;
  language.unseen_dtype = out.unseen_dtype;
  language.quantized = out.quantized;
  language.not_played.insert(language.not_played.end(), out.not_played.begin(), out.not_played.end());
  language.liger = {};
  language.cut_cross_entropy = false;
  language.unsloth = language.unsloth_compiles = language.tensor_parallel = language.generates = false;
  language.context_parallel = false;
  language.expert_names = out.expert_names;
  language.sequence_classifier = false;
  language.heads.clear();
  return language;
}

}  // namespace

void read_parts(const Whole& whole, Architecture& out) {
  Fields& fields = whole.fields;
  Diagnostics& errors = fields.errors();
  const Node* language_node = fields.required("language");
  if (!errors.empty()) return;
  Fields language_part(fields.document(), *language_node, errors);
  language_part.only(part_keys);
  for (const std::string_view key : {"key", "model_type", "module"}) language_part.required(key);
  if (!errors.empty()) return;
  Result<Architecture> language = language_of(whole, language_part);
  if (!language) return void(errors.insert(errors.end(), language.errors().begin(), language.errors().end()));
  for (const auto& [key, value] : language->config) whole.values.provide("language." + key, value);
  std::vector<Tower> towers = towers_of(whole);
  if (!errors.empty()) return;
  std::optional<Segment> silent = silent_tower(whole);
  if (!errors.empty()) return;
  std::vector<OpSpec> embedded;
  if (fields.find("embedded") != nullptr) embedded = ops_in(fields, whole.values, "embedded");
  if (!errors.empty()) return;
  out = of_whole(*std::move(language), out);
  for (const Tower& tower : towers) {
    if (tower.is_left_out) out.not_played.push_back("a model without a tower (no " + tower.key + ")");
  }
  const auto says = [&](std::string_view key) { return fields.find(key) != nullptr && fields.text(key) == "true"; };
  out.caches_unasked = says("caches_unasked");
  out.caches_by_default = says("caches_by_default");
  out.cut_cross_entropy = says("cut_cross_entropy");
  out.sequence_classifier = says("sequence_classifier");
  if (says("shifts_logits")) out.head.attributes.emplace_back("shifts_logits", true);
  for (const std::string_view key : std::array{std::string_view("older_loss"), older_code})
    if (fields.find(key) != nullptr) out.head.attributes.emplace_back(std::string(key), fields.text(key));
  join(out, std::move(towers), embedded);
  if (!silent) return;
  out.layers += std::ssize(silent->layers);
  out.body.insert(out.body.begin() + 1, std::move(*silent));
}

}  // namespace oomplan::catalog
