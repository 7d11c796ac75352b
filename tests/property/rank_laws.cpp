// Laws between ranks of a world, over known models and every way of sharing one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/ranks.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "plans.hpp"

namespace oomplan {
namespace {

struct Method {
  std::string name{};
  std::string keys{};
};

const std::vector<Method>& methods() {
  static const std::string zero = "optimizer: adamw_foreach\nzero_dtype: bf16\nsharding: ";
  static const std::vector<Method> all{
      {"DDP", "sharding: ddp"},
      {"FSDP1", "sharding: fsdp1"},
      {"FSDP1, gathered once", "sharding: fsdp1\nfsdp_reshard: never\nfsdp_orig_params: true"},
      {"FSDP2", "sharding: fsdp2"},
      {"FSDP2, gathered once", "sharding: fsdp2\nfsdp_reshard: never"},
      {"FSDP2 by accelerate", "sharding: fsdp2\nfsdp_units: accelerate\nfsdp_param_dtype: bf16\nfsdp_fp32_trained: true"},
      {"FSDP2, reentrant checkpoints", "sharding: fsdp2\ncheckpointing: true\nreentrant_checkpointing: true"},
      {"FSDP2 of LoRA", "sharding: fsdp2\nadapter: lora\nlora_targets: [q_proj, v_proj]"},
      {"ZeRO-1", zero + "zero1"},
      {"ZeRO-2", zero + "zero2\nzero_overlap: true"},
      {"ZeRO-3", zero + "zero3\ncheckpointing: true"},
  };
  return all;
}

std::optional<TrainingPlan> plan_of(const std::string& model, const std::string& keys, std::int64_t world) {
  const std::string text = "model: " + model + "\nmicro_batch_size: 1\nsequence_length: 256\nweights_dtype: bf16\n" + keys +
                           "\nworld_size: " + std::to_string(world) + "\n";
  const auto document = parse_document(text, "oomplan.yaml", Syntax::yaml);
  const auto plan = document ? ingest(*document, {.dialect = "oomplan"}) : Result<TrainingPlan>(document.errors());
  if (!plan) ADD_FAILURE() << text << to_text(plan.errors().front());
  return plan ? std::optional(*plan) : std::nullopt;
}

/// What a rank of each kind holds from step to step at most, all ranks together.
struct Held {
  Bytes all{};
  Bytes most{};  ///< Of one rank.
  Bytes peak{};
  Bytes beside{};  ///< Of the peak: what is gathered, and what is sent.
};

constexpr std::array kept{Bucket::weights, Bucket::gradients, Bucket::optimizer};

Bytes kept_of(const Footprint& f) {
  Bytes out;
  for (const Bucket b : kept) out += at(f.bucket_peaks.at(static_cast<std::size_t>(b)).by_bucket, b);
  return out;
}

/// Nothing where the estimator refuses the model or the method, or both together.
std::optional<Held> held_by(const TrainingPlan& plan, const Architecture& model) {
  const auto kinds = rank_kinds(plan, model);
  if (!kinds) return std::nullopt;
  Held out;
  for (const RankKind& kind : *kinds) {
    const auto footprint = estimate_shard(plan, model, kind.shard);
    if (!footprint) return std::nullopt;
    const Bytes kept_here = kept_of(*footprint);
    out.all += kept_here * kind.count;
    out.most = std::max(out.most, kept_here);
    if (footprint->peak.total <= out.peak) continue;
    out.peak = footprint->peak.total;
    out.beside = at(footprint->peak.by_bucket, Bucket::gathered) + at(footprint->peak.by_bucket, Bucket::communication);
  }
  return out;
}

/// A part of all models, of each family that comes by.
std::vector<std::string> some_models() {
  std::vector<std::string> out;
  const std::vector<std::string> known = known_models();
  for (std::size_t i = 0; i < known.size(); i += 12) out.push_back(known[i]);
  for (const char* one : {"meta-llama/Llama-3.2-1B", "Qwen/Qwen3-8B", "mistralai/Mistral-7B-v0.1"}) out.emplace_back(one);
  return out;
}

TEST(RankLaws, AllRanksTogetherHoldTheWholeAndMoreRanksNeverNeedMore) {
  std::map<std::string, int> played;
  for (const std::string& id : some_models()) {
    const auto model = find_model(id);
    ASSERT_TRUE(model.ok()) << id;
    for (const Method& method : methods()) {
      SCOPED_TRACE(id + ", " + method.name);
      std::optional<Held> before;
      for (const std::int64_t world : {2, 4, 24}) {
        const auto plan = plan_of(id, method.keys, world);
        ASSERT_TRUE(plan);
        const auto held = held_by(*plan, *model);
        if (!held) break;
        ++played[method.name];
        TrainingPlan one = *plan;
        one.mesh = example::mesh(Sharding::none, 1);
        const auto whole = held_by(one, *model);
        if (whole) {
          EXPECT_GE(held->all, whole->most) << world;
        }
        if (before) {
          EXPECT_LE(held->most, before->most) << world;
          EXPECT_LE(held->peak - held->beside, before->peak) << world;
        }
        before = held;
      }
    }
  }
  for (const Method& method : methods()) EXPECT_GE(played[method.name], 9) << method.name;
}

TEST(RankLaws, OfDdpEveryWorldHoldsTheSame) {
  for (const char* id : {"meta-llama/Llama-3.2-1B", "openai-community/gpt2"}) {
    const auto model = find_model(id);
    ASSERT_TRUE(model.ok()) << id;
    const auto peak = [&](std::int64_t world) { return example::played(*plan_of(id, "sharding: ddp", world), *model).peak.total; };
    EXPECT_EQ(peak(1), peak(2)) << id;
    EXPECT_EQ(peak(2), peak(1024)) << id;
  }
}

}  // namespace
}  // namespace oomplan
