#include "overrides.hpp"

#include <algorithm>

#include "key_file.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view plan_prefix = "plan.";

Location place(const std::string& text) { return {"--set " + text, 0, 0}; }

Diagnostic refused(const std::string& text, std::string_view code, std::string message, std::string hint) {
  return {Severity::error, std::string(code), std::move(message), place(text), std::move(hint), {}};
}

Diagnostic unknown(const std::string& text, const std::string& key, const Dialect& dialect) {
  auto keys = dialect.keys();
  for (const FactRow& row : facts()) keys.push_back(row.name);
  const auto near = nearest(key, keys);
  return refused(text, "ingest/unknown-key",
                 "\"" + key + "\" is no key of " + std::string(dialect.name) + " and no fact of the plan",
                 near ? "did you mean " + *near + "?" : "");
}

/// A key that moves no memory leaves its name to the fact: nobody sets it here for nothing.
bool is_own(const Dialect& dialect, const std::string& key) {
  const bool moves = std::ranges::count(key_file(dialect.name).no_effect, key, &KeyLine::what) == 0;
  return dialect.has(key) && (moves || find_fact(key) == nullptr);
}

// `key=` means null, as a key without a value does in YAML.
Result<Document> parse_value(const std::string& value, const std::string& file) {
  const bool blank = value.find_first_not_of(" \t\n") == value.npos;
  return parse_document(blank ? "null" : value, file, Syntax::yaml);
}

}  // namespace

Overrides parse_overrides(const std::vector<std::string>& texts, const Dialect& dialect, Diagnostics& errors) {
  Overrides out;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == text.npos) {
      errors.push_back(refused(text, "ingest/bad-override", "expected key=value", {}));
      continue;
    }
    const std::string key = text.substr(0, equals);
    const bool own = is_own(dialect, key);
    const std::string field = key.starts_with(plan_prefix) ? key.substr(plan_prefix.size()) : key;
    if (!own && find_fact(field) == nullptr) {
      errors.push_back(unknown(text, key, dialect));
      continue;
    }
    auto value = parse_value(text.substr(equals + 1), place(text).file);
    if (!value) {
      errors.insert(errors.end(), value.errors().begin(), value.errors().end());
      continue;
    }
    const Document& document = out.documents.emplace_back(*std::move(value));
    const Input input{own ? key : field, &document.root, &document, place(text), text};
    replace(own ? out.own : out.fields, input);
  }
  return out;
}

namespace {

void add_field(std::string key, const std::string& text, const std::string& said, Overrides& overrides) {
  if (std::ranges::count(overrides.fields, key, &Input::key) > 0) return;
  auto value = parse_value(text, said);
  if (!value) return;
  const Document& document = overrides.documents.emplace_back(*std::move(value));
  overrides.fields.push_back({std::move(key), &document.root, &document, {said, 0, 0}, said});
}

}  // namespace

void add_world(const NamedWorld& world, Overrides& overrides) {
  if (world.each == 0) return;
  add_field("ranks", std::to_string(world.each), world.said, overrides);
  add_field("world_size", std::to_string(saturating_mul(world.each, world.machines)), world.said, overrides);
}

void add_older_gpu(const std::string& said, Overrides& overrides) {
  if (!said.empty()) add_field("older_gpu", "true", said, overrides);
}

void add_trainer(const IngestOptions& options, const Dialect& dialect, Overrides& overrides) {
  Inputs& inputs = dialect.has("trainer") ? overrides.own : overrides.fields;
  if (options.trainer.empty() || std::ranges::count(inputs, "trainer", &Input::key) > 0) return;
  const Location at{options.trainer_said, 0, 0};
  auto name = parse_value(options.trainer, options.trainer_said);
  if (!name) return;
  const Document& document = overrides.documents.emplace_back(*std::move(name));
  replace(inputs, {"trainer", &document.root, &document, at, options.trainer_said});
}

void check_trainer(const Dialect& dialect, Overrides& overrides, Draft& draft) {
  const auto said = std::ranges::find(overrides.fields, "trainer", &Input::key);
  if (dialect.has("trainer") || said == overrides.fields.end()) return;
  const std::optional<std::string> wanted = as::trainer.read(*said->value);
  if (!wanted) return;  // apply_fields says so
  const std::string& own = draft.plan.recipe.trainer.value;
  if (*wanted != own) {
    const TrainerName* name = find_trainer(own);
    draft.errors.push_back(at_value(*said, "ingest/conflict",
                                    std::string(dialect.name) + "'s own keys say which trainer reads this config: " +
                                        std::string(name == nullptr ? own : name->title) + " (" + own + ")",
                                    "leave " + said->key_at.file + " out, or change the config"));
  }
  overrides.fields.erase(said);
}

void warn_overruled(const NamedWorld& world, const Setting<std::int64_t>& from, Draft& draft) {
  const std::int64_t taken = saturating_mul(world.each, world.machines);
  if (from.origin.kind != Origin::Kind::config || from.value == taken) return;
  draft.plan.warnings.push_back({Severity::warning,
                                 "ingest/overruled",
                                 from.origin.source + " says " + std::to_string(from.value) +
                                     (from.value == 1 ? " GPU and " : " GPUs and ") + world.said + " says " +
                                     std::to_string(taken) + ", which is taken",
                                 from.origin.where,
                                 "leave the number out of --gpu to keep the file's",
                                 {}});
}

void apply_fields(const Inputs& fields, const NamedWorld& world, Draft& draft) {
  for (const Input& input : fields) {
    const FactRow& row = *find_fact(input.key);
    const bool counted = input.key == "world_size" && input.command_line == world.said;
    if (counted) warn_overruled(world, draft.plan.mesh.world_size, draft);
    if (!row.read(*input.value, origin_of(input), draft.plan)) {
      draft.errors.push_back(bad_value(input, row.expected, row.choices));
    }
    std::erase_if(draft.missing, [&](const Missing& missing) { return missing.field == input.key; });
  }
}

}  // namespace oomplan::ingestion
