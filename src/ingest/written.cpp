#include "written.hpp"

#include <algorithm>
#include <functional>

namespace oomplan::ingestion {
namespace {

using Says = std::function<bool(std::string_view fact)>;

std::string_view first_of(std::string_view keys) { return keys.substr(0, keys.find('|')); }

void add(Lines& lines, std::string_view key, std::optional<std::string> text) {
  if (text && std::ranges::count(lines, key, &Lines::value_type::first) == 0) lines.emplace_back(key, *std::move(text));
}

void add_item(std::vector<std::string>& items, const std::string& item) {
  if (std::ranges::count(items, item) == 0) items.push_back(item);
}

/// What facts add to the list of this key.
std::vector<std::string> items_of(const Dialect& dialect, std::string_view key, const TrainingPlan& plan) {
  std::vector<std::string> out;
  for (const Saying& saying : dialect.sayings) {
    if (!saying.adds || first_of(saying.keys) != key) continue;
    if (const auto item = saying.text(plan)) add_item(out, *item);
  }
  return out;
}

std::optional<std::string> said_by(const Dialect& dialect, const Saying& saying, const TrainingPlan& plan) {
  if (!saying.adds) return saying.text(plan);
  const std::vector<std::string> items = items_of(dialect, first_of(saying.keys), plan);
  return items.empty() ? std::nullopt : std::optional(yaml_list(items));
}

void add_key(Lines& lines, const Dialect& dialect, const Key& key, const TrainingPlan& plan, const Says& asked) {
  if (key.fact != nullptr && key.written && asked(key.fact->name) && key.fact->matters(plan)) {
    add(lines, key.name, key.codec->write(key.fact->get(plan)));
  }
  for (const Saying& saying : dialect.sayings) {
    if (first_of(saying.keys) == key.name && asked(saying.fact)) add(lines, key.name, said_by(dialect, saying, plan));
  }
}

Lines lines_of(const Dialect& dialect, const TrainingPlan& plan, const Says& asked) {
  Lines out;
  for (const Key& key : arguments_of(dialect.name)) add_key(out, dialect, key, plan, asked);
  // Keys whose value is read where it stands have no line of their own in keys.yaml's `keys`.
  for (const Saying& saying : dialect.sayings) {
    if (asked(saying.fact)) add(out, first_of(saying.keys), said_by(dialect, saying, plan));
  }
  return out;
}

/// The names under which a line of this key can stand, the usual one first.
std::vector<std::string_view> names_of(const Dialect& dialect, std::string_view key) {
  std::vector<std::string_view> out{key};
  for (const Saying& saying : dialect.sayings) {
    if (first_of(saying.keys) != key) continue;
    for (std::string_view rest = saying.keys; rest.find('|') != rest.npos;) {
      rest.remove_prefix(rest.find('|') + 1);
      out.push_back(first_of(rest));
    }
  }
  const auto& keys = arguments_of(dialect.name);
  const auto own = std::ranges::find(keys, key, &Key::name);
  if (own == keys.end()) return out;
  for (const Key& other : keys) {
    const bool same = other.argument == own->argument || (own->fact != nullptr && other.fact == own->fact);
    if (same && other.name != key) out.push_back(other.name);
  }
  return out;
}

// What a fact asks for is said by that fact.
std::vector<std::string> unmodelled_beside_facts(const TrainingPlan& plan) {
  std::vector<std::string> features;
  for (const Unmodelled& one : plan.unmodelled) {
    if (find_fact(one.key) == nullptr) features.push_back(one.feature);
  }
  return features;
}

std::string name_in(const Document& document, const Dialect& dialect, std::string_view key) {
  for (const std::string_view name : names_of(dialect, key)) {
    if (find_path(document.root, name) != nullptr) return std::string(name);
  }
  return std::string(key);
}

/// Whether a key of which all that counts is that there is a value has one.
bool is_given(const Document& document, const Dialect& dialect, const std::string& key) {
  const auto& keys = key_file(dialect.name).keys;
  const auto found = std::ranges::find(keys, key, &KeyLine::what);
  const Node* value = find_path(document.root, key);
  return found != keys.end() && found->text == "given" && value != nullptr && value->kind != Node::Kind::null;
}

/// What stands under `name` with what `key` adds to it: its own `text` where it adds nothing, or no list stands there.
std::string added_to(const Document& document, const Dialect& dialect, std::string_view key, const std::string& name,
                     const std::string& text, const TrainingPlan& plan) {
  const std::vector<std::string> added = items_of(dialect, key, plan);
  const Node* list = find_path(document.root, name);
  if (added.empty() || list == nullptr || !list->is_sequence()) return text;
  std::vector<std::string> items;
  for (const Node& item : list->items) items.push_back(item.text);
  for (const std::string& item : added) add_item(items, item);
  return yaml_list(items);
}

}  // namespace

std::string plain_text(const TrainingPlan& plan) {
  Lines lines;
  if (!plan.framework.empty()) lines.emplace_back("framework", write_text(plan.framework));
  for (const FactRow& fact : facts()) lines.emplace_back(fact.name, fact.write(plan));
  const auto features = unmodelled_beside_facts(plan);
  if (!features.empty()) lines.emplace_back("unmodelled", yaml_list(features));
  return nested_yaml(lines);
}

Lines lines_of(const Dialect& dialect, const TrainingPlan& plan) {
  return lines_of(dialect, plan, [](std::string_view /*fact*/) { return true; });
}

Lines lines_of(const Dialect& dialect, const TrainingPlan& plan, const std::vector<std::string>& facts) {
  return lines_of(dialect, plan, [&](std::string_view fact) { return std::ranges::count(facts, fact) > 0; });
}

}  // namespace oomplan::ingestion

namespace oomplan {

using namespace ingestion;

const Node* find_path(const Node& root, std::string_view key) {
  const std::size_t dot = key.find('.');
  const Node* found = root.find(key.substr(0, dot));
  return dot == key.npos || found == nullptr ? found : find_path(*found, key.substr(dot + 1));
}

std::vector<KeyValue> keys_for(const std::vector<std::string>& facts, const TrainingPlan& before,
                               const TrainingPlan& after, const Document& document) {
  const Dialect* dialect = find_dialect(after.dialect);
  std::vector<KeyValue> out;
  if (dialect == nullptr) return out;
  if (dialect->plain) {
    for (const std::string& fact : facts) out.push_back({fact, fact_of(after, fact).value_or("")});
    return out;
  }
  const Lines old = lines_of(*dialect, before, facts);
  for (const auto& [key, text] : lines_of(*dialect, after, facts)) {
    if (std::ranges::count(old, Lines::value_type(key, text)) > 0) continue;
    const std::string name = name_in(document, *dialect, key);
    if (is_given(document, *dialect, name)) continue;
    out.push_back({name, added_to(document, *dialect, key, name, text, after)});
  }
  return out;
}

std::string write_plan(const TrainingPlan& plan, std::string_view dialect) {
  const Dialect* found = find_dialect(dialect);
  if (found == nullptr) return {};
  return found->plain ? plain_text(plan) : nested_yaml(lines_of(*found, plan));
}

bool is_closed(std::string_view dialect) { return key_file(dialect).closed; }

std::string_view words_for_fix(std::string_view fix, std::string_view dialect) {
  const auto& fixes = key_file(dialect).fixes;
  const auto found = std::ranges::find(fixes, fix, &KeyLine::what);
  return found == fixes.end() ? std::string_view() : found->text;
}

std::optional<std::string> key_of_fact(std::string_view fact, const std::string& dialect) {
  const Dialect* found = find_dialect(dialect);
  if (found == nullptr || found->plain) return std::nullopt;
  const auto says = [&](const Key& key) { return key.fact != nullptr && key.written && key.fact->name == fact; };
  const auto& keys = arguments_of(found->name);
  const auto key = std::ranges::find_if(keys, says);
  return key == keys.end() ? std::nullopt : std::optional(std::string(key->name));
}

}  // namespace oomplan
