#include "change.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "facts.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/ingest/keys.hpp"

namespace oomplan::advise {
namespace {

/// The rows that a batch packs into one; 1 where it packs none.
std::int64_t packed_rows(const AdviceQuestion& question) {
  if (question.document == nullptr || question.plan.batch.micro_batch_size.value != 1) return 1;
  const auto key = key_of_fact("micro_batch_size", question.plan.dialect);
  const Node* rows = key ? find_path(question.document->root, *key) : nullptr;
  return rows == nullptr ? 1 : std::max(rows->as_integer().value_or(1), std::int64_t{1});
}

/// Where a batch packs that many rows into one: their number and length.
TrainingPlan unpacked(TrainingPlan plan, std::int64_t rows) {
  if (rows < 2) return plan;
  plan.batch.micro_batch_size.value = rows;
  plan.batch.sequence_length.value /= rows;
  return plan;
}

void put(std::vector<KeyChange>& keys, KeyChange change) {
  const auto found = std::ranges::find(keys, change.key, &KeyChange::key);
  if (found == keys.end()) return keys.push_back(std::move(change));
  found->value = std::move(change.value);
}

/// The facts that its keys say: of packed rows their number, which their length follows of.
std::vector<std::string> facts_said(const Rung& rung, const TrainingPlan& plan) {
  std::vector<std::string> out = edited_facts(rung, plan);
  if (rung.packed_rows) std::ranges::replace(out, std::string("sequence_length"), std::string("micro_batch_size"));
  return out;
}

/// False where the framework has no key for it.
bool add_keys(const Rung& rung, const Change& change, const AdviceQuestion& question, std::vector<KeyChange>& keys) {
  const TrainingPlan before = as_said(question);
  const TrainingPlan after = unpacked(change.facts, change.rows);
  const auto said = keys_for(facts_said(rung, question.plan), before, after, *question.document);
  for (const KeyValue& one : said) put(keys, {one.key, one.value});
  return !said.empty();
}

/// For as many processes as the plan has, alike on each machine.
LauncherFile launcher_of(const LauncherRule& rule, const TrainingPlan& plan) {
  const std::int64_t world = plan.mesh.world_size.value;
  const std::int64_t machines = std::max(world / std::max(plan.loader.ranks.value, std::int64_t{1}), std::int64_t{1});
  return {rule.file,
          rule.text + "num_machines: " + std::to_string(machines) + "\nnum_processes: " + std::to_string(world) + "\n"};
}

/// What is said beside the config, as overrides of the plan.
void say_beside(const Rung& rung, const AdviceQuestion& question, Change& change) {
  for (const std::string& fact : edited_facts(rung, question.plan))
    change.beside.push_back("plan." + fact + "=" + fact_of(change.facts, fact).value_or(""));
  change.fixes_beside.push_back(rung.fix.id);
}

Result<TrainingPlan> read_with(const Change& change, const std::vector<KeyChange>& keys,
                               const AdviceQuestion& question) {
  IngestOptions options = options_with(change, question.ingest);
  for (const KeyChange& one : keys) options.overrides.push_back(one.key + "=" + one.value);
  Result<TrainingPlan> plan = ingest(*question.document, options);
  return plan ? with_model_defaults(std::move(*plan), question.architecture) : plan;
}

/// Whether the fact as it is read is what the fix makes of it, in the framework's version.
bool is_meant(const Rung& rung, const std::string& fact, const TrainingPlan& read, const TrainingPlan& meant) {
  const auto value = fact_of(read, fact);
  if (value == fact_of(meant, fact)) return true;
  const auto edit = std::ranges::find(rung.edit, fact, &Edit::fact);
  return value && edit != rung.edit.end() && std::ranges::count(edit->or_else, *value) > 0;
}

/// Why what the framework makes of the keys is not what the fixes mean; empty where it is.
std::string difference(const TrainingPlan& read, const Change& change, const Choices& choices, const Ladder& ladder,
                       const TrainingPlan& before) {
  if (read.framework != change.facts.framework) return "with these keys the config would be read by another trainer";
  if (change.launcher && !read.unmodelled.empty()) return read.unmodelled.front().feature + " is not modelled yet";
  if (!read.unmodelled.empty()) return "the config has no key of its own for it that is played";
  for (const Choice& choice : choices) {
    for (const std::string& fact : edited_facts(ladder.rungs()[static_cast<std::size_t>(choice.rung)], before)) {
      if (!is_meant(ladder.rungs()[static_cast<std::size_t>(choice.rung)], fact, read, change.facts)) {
        return "other keys of the config decide " + fact;
      }
    }
  }
  return {};
}

void read_as_config(Change& change, const Choices& choices, const AdviceQuestion& question, const Ladder& ladder) {
  change.plan = change.facts;
  if (question.document == nullptr) return;
  std::vector<KeyChange> keys;
  for (const Choice& choice : choices) {
    const Rung& rung = ladder.rungs()[static_cast<std::size_t>(choice.rung)];
    if (add_keys(rung, change, question, keys)) continue;
    if (!rung.launch.file.empty()) {
      change.launcher = launcher_of(rung.launch, change.facts);
      continue;
    }
    if (rung.in_environment) {
      say_beside(rung, question, change);
      continue;
    }
    change.in_words = "no key of the config says " + rung.fix.id;
    return;
  }
  Result<TrainingPlan> read = read_with(change, keys, question);
  change.is_refused = true;
  if (!read) {
    change.in_words = "the config would be refused: " + read.errors().front().message;
    return;
  }
  change.in_words = difference(*read, change, choices, ladder, question.plan);
  if (!change.in_words.empty()) return;
  change.is_refused = false;
  change.plan = std::move(*read);
  change.keys = std::move(keys);
}

std::string too_old(const Gpu& gpu, const Rung& rung) {
  const auto has = parse_number(gpu.compute_capability);
  const auto needs = parse_number(rung.needs_capability);
  if (!has || !needs || *has >= *needs) return {};
  return "it needs compute capability " + rung.needs_capability + ", and the GPU has " + gpu.compute_capability;
}

std::string conflict(const Choices& choices, const Ladder& ladder) {
  const auto rung = [&](const Choice& choice) -> const Rung& {
    return ladder.rungs()[static_cast<std::size_t>(choice.rung)];
  };
  for (const Choice& one : choices) {
    for (const Choice& other : choices) {
      if (std::ranges::count(rung(one).conflicts, rung(other).fix.id))
        return "it does not go with " + rung(other).fix.id;
    }
  }
  return {};
}

/// Why it cannot be taken; empty where it was.
std::string take_once(Change& change, const Rung& rung) {
  if (!rung.packed_rows && change.rows > 1 && rung.move_from == "micro_batch_size")
    return "its rows are packed into one: packed-rows takes fewer";
  if (std::string why = objection(change.facts, rung); !why.empty()) return why;
  if (!rung.packed_rows) return take(change.facts, rung) ? "" : "the plan has no such value";
  if (change.rows < 2) return "no rows are packed into one";
  const std::int64_t factor = smallest_factor(change.rows);
  change.rows /= factor;
  return move(change.facts, rung, factor) ? "" : "the rows are not alike";
}

/// Only the framework itself can say what fewer packed rows come to, and whether it has a loss.
bool has_to_be_read(const Choices& choices, const Ladder& ladder, bool is_refused) {
  return std::ranges::any_of(choices, [&](const Choice& choice) {
    const Rung& rung = ladder.rungs()[static_cast<std::size_t>(choice.rung)];
    const bool decides = rung.key_decides || !rung.launch.file.empty();
    return rung.packed_rows || rung.needs_key || (decides && is_refused);
  });
}

std::string change_facts(Change& change, const Choices& choices, const AdviceQuestion& question, const Ladder& ladder) {
  for (const Choice& choice : choices) {
    const Rung& rung = ladder.rungs()[static_cast<std::size_t>(choice.rung)];
    if (std::string old = too_old(question.gpu, rung); !old.empty()) return old;
    if (!rung.launch.file.empty() && question.document == nullptr) return "only a config can be launched so";
    for (int i = 0; i < choice.times; ++i) {
      if (std::string why = take_once(change, rung); !why.empty()) return why;
    }
  }
  return {};
}

/// Why the facts do not take them all; empty where they have.
std::string why_not(Change& change, const Choices& choices, const AdviceQuestion& question, const Ladder& ladder) {
  std::string why = conflict(choices, ladder);
  return why.empty() ? change_facts(change, choices, question, ladder) : why;
}

/// Of one update. Packed rows count as one, so that moving them to the accumulation keeps only the tokens.
std::int64_t rows_in(const TrainingPlan& plan) {
  return saturating_mul(plan.batch.micro_batch_size.value, plan.batch.gradient_accumulation_steps.value);
}
std::int64_t tokens_in(const TrainingPlan& plan) {
  return saturating_mul(rows_in(plan), plan.batch.sequence_length.value);
}

struct Keepable {
  std::string_view name{};
  bool (*kept)(const TrainingPlan&, const TrainingPlan&) = nullptr;
};

constexpr std::array<Keepable, 3> keepables{{
    {"adapter", [](const auto& a, const auto& b) { return a.adapter.kind == b.adapter.kind; }},
    {"effective-batch",
     [](const auto& a, const auto& b) { return rows_in(a) == rows_in(b) || tokens_in(a) == tokens_in(b); }},
    {"sequence-length",
     [](const auto& a, const auto& b) { return a.batch.sequence_length == b.batch.sequence_length; }},
}};

std::string not_kept(const TrainingPlan& plan, const AdviceQuestion& question) {
  for (const Keepable& one : keepables) {
    if (std::ranges::count(question.keep, one.name) && !one.kept(question.plan, plan))
      return "--keep " + std::string(one.name);
  }
  return {};
}

}  // namespace

TrainingPlan as_said(const AdviceQuestion& question) { return unpacked(question.plan, packed_rows(question)); }

bool can_be_taken(const Choices& choices, const AdviceQuestion& question, const Ladder& ladder) {
  if (!question.keep.empty() || has_to_be_read(choices, ladder, true))
    return change_by(choices, question, ladder).change.has_value();
  Change change{.facts = question.plan, .rows = packed_rows(question)};
  return why_not(change, choices, question, ladder).empty();
}

Changing change_by(const Choices& choices, const AdviceQuestion& question, const Ladder& ladder) {
  Change change{.facts = question.plan, .rows = packed_rows(question)};
  std::string why = why_not(change, choices, question, ladder);
  if (!why.empty()) return {.objection = std::move(why)};
  read_as_config(change, choices, question, ladder);
  const bool alone = question.document != nullptr && is_closed(question.plan.dialect);
  if (!change.in_words.empty() && (alone || has_to_be_read(choices, ladder, change.is_refused)))
    return {.objection = change.in_words};
  why = not_kept(change.plan, question);
  if (!why.empty()) return {.objection = std::move(why)};
  return {.change = std::move(change)};
}

IngestOptions options_with(const Change& change, const IngestOptions& options) {
  IngestOptions out = options;
  out.overrides.insert(out.overrides.end(), change.beside.begin(), change.beside.end());
  if (!change.launcher) return out;
  out.launch = {change.launcher->name};
  out.loader = [ours = *change.launcher, rest = options.loader](const std::string& path) -> Result<Document> {
    if (path == ours.name) return parse_document(ours.text, ours.name, Syntax::yaml);
    if (rest) return rest(path);
    return Diagnostic{.code = "read/missing", .message = "cannot be read from here", .where = {path, 0, 0}};
  };
  return out;
}

bool same_plan(const TrainingPlan& a, const TrainingPlan& b) {
  return write_plan(a, "oomplan") == write_plan(b, "oomplan");
}

}  // namespace oomplan::advise

namespace oomplan {

std::vector<std::string_view> keepable() {
  std::vector<std::string_view> out;
  for (const auto& one : advise::keepables) out.push_back(one.name);
  return out;
}

}  // namespace oomplan
