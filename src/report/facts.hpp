// The plan's facts as rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/report/report.hpp"

namespace oomplan::report {

/// One row for each fact that has an effect in this plan (without an adapter, no LoRA rank): those of the GPU's memory,
/// or those of the host's.
std::vector<Fact> facts_of(const TrainingPlan& plan, bool of_host = false);

/// Adds what `model` makes of facts that leave something to it.
void resolve_facts(std::vector<Fact>& facts, const Architecture& model);

/// A fact's value as people write it in a config ("true", "0.05", "q_proj, v_proj"), fit for a terminal.
std::string to_text(const FactValue& value);

/// "config", "framework_default", …: the origin's kind as JSON has it.
std::string_view name_of(Origin::Kind kind);

/// What stands between a fact and what its origin says: "optim: adamw_torch, …" where the line has another value than
/// the fact, the derivation alone where there is no line; empty where there is nothing between them.
std::string derivation_of(const Fact& fact);

/// Where a fact came from, in a few words ("config.yml:12", "default of peft 0.21.2: LoraConfig").
std::string to_text(const Origin& origin);

}  // namespace oomplan::report
