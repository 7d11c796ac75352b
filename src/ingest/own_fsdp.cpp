#include <algorithm>
#include <array>
#include <string_view>

#include "condition.hpp"
#include "launch_fsdp.hpp"
#include "overrides.hpp"
#include "python_values.hpp"
#include "sharding_keys.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

struct Own {
  Draft& draft;
  const Document& document;
  const Inputs& inputs;
  const NamedWorld& world;
  const OwnFsdp& rules;
  Origin origin{};     ///< Of what asks for FSDP.
  Inputs config{};     ///< Of fsdp_config.
  bool quoted = true;  ///< fsdp_config is no other file.
  TrainingPlan said{};

  const Input* find(std::string_view key) const { return find_input(inputs, key); }
};

bool asks(const Input* input) { return input != nullptr && is_truthy(*input->value); }

void refuse(Own& own, const Origin& at, std::string why) { conflict(own.draft, at, own.document, std::move(why)); }

void note(Own& own, std::string feature, const Input& at) {
  own.draft.plan.unmodelled.push_back({std::move(feature), at.key, origin_of(at).where});
}

// ---- fsdp_config ----------------------------------------------------------------------------------------------------

void keep_fields(Own& own) {
  if (own.rules.fields.empty()) return;
  std::erase_if(own.config, [&](const Input& input) {
    return std::ranges::count(own.rules.fields, input.key) == 0 || input.value->kind == Node::Kind::null;
  });
}

void take_version_beside(Own& own) {
  const Input* version = own.find("fsdp_version");
  if (!own.rules.version_beside || !asks(version)) return;
  std::erase_if(own.config, [](const Input& input) { return input.key == "version"; });
  own.config.push_back(*version);
  own.config.back().key = "version";
}

bool is_version_2(const Own& own) {
  const Input* version = find_input(own.config, "version");
  if (version == nullptr) return own.rules.version == 2;
  return read_pydantic_positive(*version->value) == std::int64_t{2};
}

// ---- The words of `fsdp` --------------------------------------------------------------------------------------------

std::vector<std::string> words_of(const Node& node) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      if (end > 0) out.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(text.size(), end + 1));
    }
  };
  if (node.kind == Node::Kind::string) add(node.text);
  for (const Node& item : node.items) out.push_back(item.text);
  return out;
}

/// transformers/training_args.py: _apply_legacy_fsdp_to_config. Of FSDP1 accelerate does not read the strategy.
void plan_word(Own& own, const Input& input, const std::string& word) {
  constexpr std::array<std::string_view, 5> strategies{"full_shard", "shard_grad_op", "no_shard", "hybrid_shard",
                                                       "hybrid_shard_zero2"};
  if (word == "auto_wrap") return;
  if (word == "offload") {
    own.said.mesh.fsdp_offload = {true, origin_of(input)};
  } else if (std::ranges::count(strategies, word) == 0) {
    refuse(own, origin_of(input), "transformers refuses an option of fsdp that it does not know: " + word);
  } else if (is_version_2(own) && (word == "no_shard" || word.starts_with("hybrid_shard"))) {
    refuse(own, origin_of(input), "transformers takes " + word + " for FSDP1 alone");
  } else if (!is_version_2(own) && word != "full_shard") {
    own.draft.plan.warnings.push_back({Severity::warning,
                                       "ingest/overruled",
                                       "accelerate does not read " + word + " for FSDP1, and shards as full_shard",
                                       origin_of(input).where,
                                       {},
                                       {}});
  }
}

void plan_words(Own& own) {
  const Input* input = own.find("fsdp");
  if (!asks(input)) return;
  const std::vector<std::string> words = words_of(*input->value);
  for (const std::string& word : words) plan_word(own, *input, word);
  const bool keeps = std::ranges::count(words, "shard_grad_op") > 0 && std::ranges::count(words, "full_shard") == 0;
  if (!keeps || !is_version_2(own) || find_input(own.config, "reshard_after_forward") != nullptr) return;
  own.said.mesh.fsdp_reshard = {Reshard::never, origin_of(*input)};
}

// ---- The world ------------------------------------------------------------------------------------------------------

std::int64_t size_of(const Input* input) {
  const auto size = input == nullptr ? std::nullopt : read_pydantic_positive(*input->value);
  return size.value_or(1);
}

/// Sizes of groups, which together are the world.
void plan_groups(Own& own) {
  if (!own.rules.has_groups) return;
  const Input* replicas = own.find("dp_replicate_size");
  const Input* shards = own.find("dp_shard_size");
  const std::int64_t copies = size_of(replicas);
  const std::int64_t parts = size_of(shards);
  if (copies == 1 && parts == 1) return;
  const Input& by = copies > 1 ? *replicas : *shards;
  if (!is_version_2(own)) return refuse(own, origin_of(by), "accelerate refuses groups of ranks under FSDP1");
  if (copies > 1 && parts == 1) return note(own, "replicas of shards over ranks that no key counts", by);
  own.said.mesh.fsdp_replicas = {copies, origin_of(by)};
  own.said.mesh.world_size = {saturating_mul(copies, parts), origin_of(by)};
  if (copies > 1) derive(own.said.mesh.world_size.origin, "times dp_shard_size");
}

// ---- All of it ------------------------------------------------------------------------------------------------------

/// What a launcher says of processes alone is no other wish.
bool launched_otherwise(const TrainingPlan& plan) {
  const MeshFacts& mesh = plan.mesh;
  return mesh.sharding.origin.is_said() && mesh.sharding.value != Sharding::ddp &&
         mesh.sharding.value != Sharding::none;
}

void put(const TrainingPlan& said, TrainingPlan& plan) {
  for (const FactRow& fact : facts()) {
    const Origin& from = fact.origin(said);
    const bool overridden = fact.origin(plan).kind == Origin::Kind::command_line;
    if (from.kind != Origin::Kind::command_line && (from.kind != Origin::Kind::config || overridden)) continue;
    fact.set(fact.get(said), from, plan);
  }
}

void plan_own(Own& own) {
  const AskedFsdp asked{own.draft, own.document, own.origin, own.config, 1, own.said, &own.rules, own.quoted};
  plan_words(own);
  const Setting<bool> offload = own.said.mesh.fsdp_offload;
  const Setting<Reshard> reshard = own.said.mesh.fsdp_reshard;
  plan_fsdp(asked);
  if (offload.value) own.said.mesh.fsdp_offload = offload;
  if (reshard.value == Reshard::never) own.said.mesh.fsdp_reshard = reshard;
  plan_groups(own);
  if (own.draft.plan.mesh.world_size.origin.source == own.world.said) {
    warn_overruled(own.world, own.said.mesh.world_size, own.draft);
  }
  put(own.said, own.draft.plan);
  plan_sharded_precision(own.draft.plan);
  // transformers' Trainer refuses FSDP in a process by itself.
  need_world(own.draft, own.document, "FSDP");
}

}  // namespace

void apply_own_fsdp(const Inputs& inputs, const IngestOptions& options, const Dialect& dialect,
                    const Document& document, std::deque<Document>& documents, Draft& draft) {
  if (dialect.fsdp == nullptr) return;
  const OwnFsdp& rules = *dialect.fsdp;
  const Input* fsdp = find_input(inputs, "fsdp");
  const Input* config = find_input(inputs, "fsdp_config");
  const bool by_config = !rules.needs_config.empty() && asks(config);
  if (!asks(fsdp) && !by_config) return;
  const Input& by = asks(fsdp) ? *fsdp : *config;
  Own own{draft, document, inputs, options.world, rules, origin_of(by), {}};
  own.quoted = config == nullptr || config->value->is_mapping();
  if (asks(config)) own.config = fsdp_inputs_of(*config, options.loader, documents);
  const bool zero = is_zero(draft.plan.mesh.sharding.value);
  if (zero) return note(own, "FSDP beside DeepSpeed", by);
  if (launched_otherwise(draft.plan)) return note(own, "FSDP by a launcher and by the config's own keys", by);
  if (!rules.needs_config.empty() && !asks(config)) return refuse(own, own.origin, std::string(rules.needs_config));
  keep_fields(own);
  take_version_beside(own);
  plan_own(own);
}

}  // namespace oomplan::ingestion
