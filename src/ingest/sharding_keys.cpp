#include "sharding_keys.hpp"

#include <algorithm>
#include <utility>

#include "zero.hpp"

namespace oomplan::ingestion {
namespace {

bool is_said(const Origin& origin) {
  return origin.kind == Origin::Kind::config || origin.kind == Origin::Kind::command_line;
}

void put(const FactRow& fact, const TrainingPlan& said, const Document& config, Draft& draft) {
  const Origin& from = fact.origin(said);
  const Origin& there = fact.origin(draft.plan);
  if (from.kind != Origin::Kind::config || there.kind == Origin::Kind::command_line) return;
  if (!is_said(there)) {
    fact.set(fact.get(said), from, draft.plan);
  } else if (fact.write(said) != fact.write(draft.plan)) {
    conflict(draft, from, config,
             std::string(fact.name) + " is " + fact.write(said) + " here and " + fact.write(draft.plan) + " in " +
                 there.where.file);
  }
}

}  // namespace

void put_said(const TrainingPlan& said, const Document& config, Draft& draft) {
  for (const FactRow& fact : facts()) put(fact, said, config, draft);
}

Named named_by(const Input& input, const Loader& loader, std::deque<Document>& documents) {
  if (input.value->is_mapping()) return {input.document, input.value};
  const auto path = read_text(*input.value);
  if (!path || !loader || !path->ends_with(".json")) return {};
  const std::string from_file = beside(input.document->file, *path);
  Result<Document> read = loader(*path);
  if (!read && from_file != *path) read = loader(from_file);
  if (!read || !read->root.is_mapping()) return {};
  const Document& kept = documents.emplace_back(*std::move(read));
  return {&kept, &kept.root};
}

const Input* find_input(const Inputs& inputs, std::string_view key) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

Inputs fsdp_inputs(const Document& document, const Node& mapping) {
  constexpr std::string_view prefix = "fsdp_";
  Inputs out = inputs_of(document, mapping);
  for (Input& input : out) {
    if (input.key.starts_with(prefix)) input.key.erase(0, prefix.size());
  }
  return out;
}

Arguments read_within(std::string_view table, const Inputs& inputs, const std::string& within, Findings& findings) {
  Arguments out(arguments_of(table));
  read_rows({out.rows(), {}, &key_file(table)}, inputs, findings);
  for (Unmodelled& gap : findings.unmodelled) gap.key = within + gap.key;
  return out;
}

void plan_deepspeed(const Inputs& inputs, const Document& config, const Loader& loader, std::deque<Document>& documents,
                    Draft& draft) {
  const Input* asks = find_input(inputs, "deepspeed");
  if (asks == nullptr || !is_set(*asks->value)) return;
  const Named named = named_by(*asks, loader, documents);
  if (named.mapping == nullptr) {
    draft.plan.unmodelled.push_back(
        {"DeepSpeed, whose file cannot be read from here,", "deepspeed", origin_of(*asks).where});
    return;
  }
  TrainingPlan said;
  plan_zero({draft, config, origin_of(*asks), said}, *named.document, *named.mapping);
  put_said(said, config, draft);
}

void note_sharding(const Inputs& inputs, const Loader& loader, std::deque<Document>& documents, Draft& draft) {
  const auto asked = [&](std::initializer_list<std::string_view> keys) {
    return std::ranges::any_of(keys, [&](std::string_view key) {
      return std::ranges::count(draft.plan.unmodelled, key, &Unmodelled::key) > 0;
    });
  };
  const Input* fsdp = asked({"fsdp", "fsdp_config"}) ? find_input(inputs, "fsdp_config") : nullptr;
  if (fsdp == nullptr) return;
  const Named named = named_by(*fsdp, loader, documents);
  if (named.mapping == nullptr) return;
  Findings findings;
  const Arguments asks = read_within("fsdp", fsdp_inputs(*named.document, *named.mapping), "fsdp_config.", findings);
  // What is played where a launcher asks for it.
  const auto note = [&](const char* key, const char* feature) {
    const auto value = asks.get<bool>(key);
    if (is(value, true))
      findings.unmodelled.push_back({feature, std::string("fsdp_config.") + key, value.origin.where});
  };
  const auto version = asks.get<std::int64_t>("version");
  if (is(version, std::int64_t{1}))
    findings.unmodelled.push_back({"FSDP1", "fsdp_config.version", version.origin.where});
  note("activation_checkpointing", "FSDP's own activation checkpointing");
  note("offload_params", "parameters on the host");
  // No text of a file that a config names is quoted: it may be no config.
  if (named.document != fsdp->document) findings.warnings.clear();
  take(draft, std::move(findings));
}

}  // namespace oomplan::ingestion
