#include "stack.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "oomplan/core/embedded.hpp"
#include "oomplan/read/packed.hpp"
#include "versions.hpp"

namespace oomplan::stacks {
std::span<const EmbeddedFile> embedded_files();  // of models/stacks/
}

namespace oomplan::ingestion {
namespace {

std::string text_at(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found == nullptr ? std::string() : found->text;
}

std::vector<std::string> texts_at(const Node& node, std::string_view key) {
  std::vector<std::string> out;
  if (const Node* found = node.find(key)) {
    for (const Node& item : found->items) out.push_back(item.text);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> pairs_at(const Node& node, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const Node* found = node.find(key)) {
    for (const Entry& entry : found->entries) out.emplace_back(entry.key, entry.value.text);
  }
  return out;
}

std::vector<std::pair<std::string, std::vector<std::string>>> lists_at(const Node& node, std::string_view key) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  if (const Node* found = node.find(key)) {
    for (const Entry& entry : found->entries) out.emplace_back(entry.key, texts_at(*found, entry.key));
  }
  return out;
}

StackLayer::Default default_at(const Entry& entry) {
  const Node* value = entry.value.find("value");
  const std::string assumption = text_at(entry.value, "assumed");
  StackLayer::Default out{entry.key, value == nullptr ? Node{} : *value, text_at(entry.value, "source"),
                          text_at(entry.value, "of"), !assumption.empty()};
  if (out.assumed) out.source = assumption;
  return out;
}

std::string file_of(std::string_view name) { return std::string(name) + ".yaml"; }

/// What a file says in place of what the one that it is like has.
template <class Value>
void take(Value said, Value& out) {
  if (!said.empty()) out = std::move(said);
}

/// What it says before what the one that it is like has, so that it counts first.
template <class Item>
void add(std::vector<Item> said, std::vector<Item>& out) {
  out.insert(out.begin(), std::make_move_iterator(said.begin()), std::make_move_iterator(said.end()));
}

StackLayer read_layer(std::string_view name) {
  const EmbeddedFile* found = find_embedded(stacks::embedded_files(), file_of(name));
  const Node root = found == nullptr ? Node{} : unpack(found->packed);
  const std::string like = text_at(root, "like");
  StackLayer out = like.empty() ? StackLayer{} : read_layer(like);
  out.name = name;
  take(text_at(root, "package"), out.package);
  take(text_at(root, "version"), out.version);
  take(text_at(root, "since"), out.since);
  if (root.find("patches") != nullptr) out.patches = text_at(root, "patches") != "false";
  take(texts_at(root, "under"), out.under);
  take(texts_at(root, "on"), out.on);
  take(pairs_at(root, "with"), out.with);
  take(texts_at(root, "families"), out.families);
  take(texts_at(root, "other_families"), out.other_families);
  take(pairs_at(root, "needs"), out.needs);
  take(pairs_at(root, "before"), out.before);
  add(pairs_at(root, "unplayed_keys"), out.unplayed_keys);
  add(pairs_at(root, "unplayed_facts"), out.unplayed_facts);
  take(texts_at(root, "needed"), out.needed);
  if (const Node* defaults = root.find("defaults")) {
    std::vector<StackLayer::Default> own;
    for (const Entry& entry : defaults->entries) own.push_back(default_at(entry));
    add(std::move(own), out.defaults);
  }
  take(lists_at(root, "targets"), out.targets);
  take(lists_at(root, "model_types"), out.model_types);
  return out;
}

/// Read once, as the text in the program never changes.
const StackLayer& named_layer(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, StackLayer, std::less<>> read;
  const std::lock_guard lock(mutex);
  const auto found = read.find(name);
  return found != read.end() ? found->second : read.emplace(name, read_layer(name)).first->second;
}

void add_layers(std::string_view name, std::vector<StackLayer>& layers) {
  if (std::ranges::count(layers, name, &StackLayer::name) > 0) return;
  const StackLayer& layer = named_layer(name);
  const ChosenVersions* chosen = ChosenVersions::current();
  const std::string top = layers.empty() ? layer.package : layers.front().package;
  const auto push = [&](StackLayer one) {
    if (chosen != nullptr) one.version = chosen->version_of(one, top);
    layers.push_back(std::move(one));
  };
  const std::string other = chosen == nullptr ? "" : chosen->in_front_of(layer, top);
  if (!other.empty()) push(named_layer(other));
  push(layer);
  for (const std::string& one : layer.on) add_layers(one, layers);
  // Those of a layer that was put in front, where this one has it below.
  if (!other.empty()) {
    for (const std::string& one : named_layer(other).on) add_layers(one, layers);
  }
}

}  // namespace

const StackLayer* Stack::layer_of(std::string_view package) const {
  const auto found = std::ranges::find(layers_, package, &StackLayer::package);
  return found == layers_.end() ? nullptr : &*found;
}

std::string Stack::name_of(std::string_view package) const {
  const StackLayer* layer = layer_of(package);
  if (layer == nullptr || layer->version.empty()) return std::string(package);
  return layer->package + " " + layer->version;
}

Origin Stack::origin(std::string_view package, std::string_view where) const {
  return {.kind = Origin::Kind::framework_default, .source = name_of(package) + ": " + std::string(where)};
}

bool StackLayer::lists(std::string_view list, std::string_view model_type) const {
  using Named = std::pair<std::string, std::vector<std::string>>;
  const auto found = std::ranges::find(model_types, list, &Named::first);
  return found != model_types.end() && std::ranges::count(found->second, model_type) > 0;
}

bool Stack::lists(std::string_view package, std::string_view list, std::string_view model_type) const {
  const StackLayer* layer = layer_of(package);
  return layer != nullptr && layer->lists(list, model_type);
}

bool Stack::set_default(const FactRow& fact, TrainingPlan& plan) const {
  for (const StackLayer& layer : layers_) {
    if (std::ranges::count(layer.needed, fact.name) > 0) return false;
    const auto found = std::ranges::find(layer.defaults, fact.name, &StackLayer::Default::fact);
    if (found == layer.defaults.end()) continue;
    Origin from = origin(found->of.empty() ? layer.package : found->of, found->source);
    // A layer's own default is of its own version, also where another version of the package lies above it.
    if (found->of.empty() && !layer.version.empty()) {
      from.source = layer.package + " " + layer.version + ": " + found->source;
    }
    if (found->assumed) from = {.kind = Origin::Kind::assumed, .source = found->source};
    return fact.read(found->value, from, plan);
  }
  return false;
}

Stack::Stack(std::vector<StackLayer> layers) : layers_(std::move(layers)) {
  for (const FactRow& fact : facts()) set_default(fact, plan_);
}

const Stack& stack_of(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Stack, std::less<>> read;
  const std::lock_guard lock(mutex);
  ChosenVersions* chosen = ChosenVersions::current();
  const std::string key = (chosen == nullptr ? "" : chosen->key()) + std::string(name);
  auto found = read.find(key);
  if (found == read.end()) {
    std::vector<StackLayer> layers;
    add_layers(name, layers);
    found = read.try_emplace(key, std::move(layers)).first;
  }
  if (chosen != nullptr) chosen->use(found->second.layers());
  return found->second;
}

const std::vector<StackLayer>& stack_layers() {
  static const std::vector<StackLayer> all = [] {
    std::vector<StackLayer> out;
    for (const std::string& name : stack_names()) out.push_back(named_layer(name));
    return out;
  }();
  return all;
}

std::vector<std::string> stack_names() {
  std::vector<std::string> out;
  for (const auto& file : stacks::embedded_files()) out.emplace_back(file.path.substr(0, file.path.rfind('.')));
  return out;
}

}  // namespace oomplan::ingestion
