// A few turns of a loop over tokens or chunks stand for all of them: the run is what playing every turn gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "plans.hpp"
#include "readings.hpp"
#include "run.hpp"
#include "spread.hpp"
#include "unroll.hpp"

namespace oomplan::estimator {
namespace {

using example::Keys;

struct Looping {
  std::string name{};
  Keys model{};
  std::int64_t length = 0;
  Attention attention = Attention::sdpa;
};

Keys sized(const std::string& type, const Keys& changes) {
  return example::with({{"model_type", "\"" + type + "\""},
                        {"hidden_size", "128"},
                        {"intermediate_size", "256"},
                        {"num_hidden_layers", "2"},
                        {"num_attention_heads", "4"},
                        {"num_key_value_heads", "2"},
                        {"vocab_size", "1000"}},
                       changes);
}

std::vector<Looping> models() {
  constexpr std::int64_t tokens = 21;
  constexpr std::int64_t chunks = 13 * 64 + 5;
  const Keys experts{{"num_experts", "4"}, {"num_experts_per_tok", "2"}, {"moe_intermediate_size", "64"}};
  const Keys delta{{"linear_num_key_heads", "2"},
                   {"linear_num_value_heads", "4"},
                   {"linear_key_head_dim", "32"},
                   {"linear_value_head_dim", "32"},
                   {"head_dim", "32"}};
  return {
      {"mamba", sized("mamba", {}), tokens},
      {"falcon_mamba", sized("falcon_mamba", {}), tokens},
      {"jamba", sized("jamba", {{"attn_layer_period", "2"}, {"attn_layer_offset", "1"}, {"num_experts", "4"}}), tokens},
      {"zamba", sized("zamba", {{"layers_block_type", R"(["mamba", "hybrid"])"}, {"num_key_value_heads", "4"}}),
       tokens},
      {"rwkv",
       {{"model_type", "\"rwkv\""}, {"hidden_size", "128"}, {"num_hidden_layers", "2"}, {"vocab_size", "1000"}},
       tokens,
       Attention::eager},
      {"recurrent_gemma", sized("recurrent_gemma", {{"num_hidden_layers", "3"}}), tokens, Attention::eager},
      {"qwen3_next", sized("qwen3_next", example::with(experts, delta)), chunks},
      {"kimi_linear",
       sized(
           "kimi_linear",
           example::with(experts, {{"linear_attn_config",
                                    R"({"kda_layers": [1], "full_attn_layers": [2], "head_dim": 32, "num_heads": 4})"},
                                   {"kv_lora_rank", "32"},
                                   {"num_key_value_heads", "4"}})),
       chunks},
  };
}

struct Played {
  RunPtr run;
  Timeline timeline;
};

Played play(const TrainingPlan& plan, const Architecture& model, bool folds) {
  Repetition repetition = Repetition::whole_of(model);
  const auto facts = resolve(plan, model);
  auto run = facts ? play_run(plan, *facts, model, repetition, 0, folds) : Result<RunPtr>(facts.errors());
  if (!run) ADD_FAILURE() << to_text(run.errors().front());
  RunPtr out = run ? std::move(*run) : RunPtr(new Run);
  for (const Loops::Loop& loop : out->torch.loops.all()) repetition.add_loop(loop.layer, loop.turns);
  Timeline timeline(out->recorder(), std::move(repetition));
  return {std::move(out), std::move(timeline)};
}

/// How many storages are alive, their bytes, and the layers that they are of.
struct Alive {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
  friend bool operator==(const Alive&, const Alive&) = default;
};

Alive alive_at(const Timeline& timeline, const Moment& moment) {
  Alive out;
  for (const Live& live : Lifetimes(timeline).alive_at(moment)) {
    out.count += live.count;
    out.bytes += live.count * timeline.recorder().at(live.storage).bytes;
    out.first = std::min(out.first, live.first_layer);
    out.last = std::max(out.last, live.last_layer);
  }
  return out;
}

void expect_same(const TrainingPlan& plan, const Architecture& model) {
  const Played few = play(plan, model, true);
  const Played all = play(plan, model, false);
  ASSERT_FALSE(few.run->torch.loops.all().empty());
  ASSERT_TRUE(repeats_exactly(few.timeline));
  EXPECT_LT(few.run->recorder().events.size(), all.run->recorder().events.size());
  EXPECT_TRUE(unroll(few.timeline) == unroll(all.timeline));
  const Peaks some(few.timeline);
  const Peaks each(all.timeline);
  ASSERT_EQ(some.of_phases().size(), each.of_phases().size());
  for (std::size_t i = 0; i < each.of_phases().size(); ++i) {
    const Peak& a = some.of_phases()[i];
    const Peak& b = each.of_phases()[i];
    EXPECT_EQ(a.bytes, b.bytes) << name_of(b.phase) << ' ' << b.step;
    EXPECT_EQ(some.at(a.moment), each.at(b.moment)) << name_of(b.phase) << ' ' << b.step;
    EXPECT_TRUE(alive_at(few.timeline, a.moment) == alive_at(all.timeline, b.moment))
        << name_of(b.phase) << ' ' << b.step;
  }
}

TEST(Loops, AFewTurnsGiveTheRunOfAllTurns) {
  for (const Looping& looping : models()) {
    for (const bool checkpointed : {false, true}) {
      for (const bool autocast : {false, true}) {
        SCOPED_TRACE(looping.name + (checkpointed ? ", checkpointed" : "") + (autocast ? ", autocast" : ""));
        TrainingPlan p = example::plan(2, looping.length);
        p.kernels.attention.value = looping.attention;
        p.batch.gradient_accumulation_steps.value = 2;
        p.checkpointing.on.value = checkpointed;
        if (autocast) {
          p.precision.weights_dtype.value = WeightsDType::fp32;
          p.precision.autocast.value = Autocast::bf16;
        }
        expect_same(p, example::architecture(looping.model));
      }
    }
  }
}

/// Of many layers, a few played with a few turns of their loops, then written down with every layer.
void expect_same_spread(const TrainingPlan& plan, const Architecture& model) {
  const auto facts = resolve(plan, model);
  Repetition folded = Repetition::folded(model);
  ASSERT_FALSE(folded.whole());
  auto played = play_run(plan, *facts, model, folded, 0, true);
  const RunPtr few = std::move(*played);
  const std::vector<Loops::Loop>& loops = few->torch.loops.all();
  for (const Loops::Loop& loop : loops) folded.give_turns(loop.layer);
  const Timeline timeline(few->recorder(), folded);
  ASSERT_TRUE(repeats_exactly(timeline));
  Spread out;
  ASSERT_TRUE(spread(timeline, loops, out));
  Repetition whole = Repetition::whole_of(model);
  for (const Loops::Loop& loop : out.loops) whole.add_loop(loop.layer, loop.turns);
  const Timeline written(out.recorder, whole);
  const Played all = play(plan, model, true);
  ASSERT_TRUE(repeats_exactly(written));
  EXPECT_TRUE(unroll(written) == unroll(all.timeline));
  const Peaks some(written);
  const Peaks each(all.timeline);
  ASSERT_EQ(some.of_phases().size(), each.of_phases().size());
  for (std::size_t i = 0; i < each.of_phases().size(); ++i) {
    EXPECT_EQ(some.of_phases()[i].bytes, each.of_phases()[i].bytes);
    EXPECT_TRUE(alive_at(written, some.of_phases()[i].moment) == alive_at(all.timeline, each.of_phases()[i].moment));
  }
}

TEST(Loops, LayersThatRepeatAreWrittenDownAsIfEachHadBeenPlayed) {
  const Keys jamba{{"num_hidden_layers", "17"},  {"attn_layer_period", "2"},   {"attn_layer_offset", "1"},
                   {"expert_layer_period", "2"}, {"expert_layer_offset", "1"}, {"num_experts", "4"}};
  for (const Keys& keys : {sized("mamba", {{"num_hidden_layers", "9"}}), sized("jamba", jamba)}) {
    for (const bool checkpointed : {false, true}) {
      TrainingPlan p = example::plan(1, 21);
      p.checkpointing.on.value = checkpointed;
      expect_same_spread(p, example::architecture(keys));
    }
  }
}

/// The most that is requested in each phase, and what is left at its end.
std::vector<std::int64_t> requested(const Unrolled& run) {
  std::vector<std::int64_t> out;
  std::vector<std::int64_t> live(run.events.size());
  std::int64_t now = 0;
  std::int64_t many = 1;
  for (const oomplan::Event& e : run.events) {
    using Kind = oomplan::Event::Kind;
    if (e.kind == Kind::mark) out.insert(out.end(), {now, now});
    if (e.kind == Kind::times) many = e.value;
    if (e.kind == Kind::free) now -= std::exchange(live[e.slot], 0);
    if (e.kind != Kind::allocate) continue;
    EXPECT_EQ(live[e.slot], 0);
    live[e.slot] = std::exchange(many, 1) * e.value;
    now += live[e.slot];
    if (e.slot < run.first_scratch) out.back() = std::max(out.back(), now);
  }
  return out;
}

TEST(Loops, TurnsTogetherRequestWhatTheyRequestApart) {
  for (Looping looping : models()) {
    if (looping.length < 64) looping.length = 4000;
    for (const bool checkpointed : {false, true}) {
      SCOPED_TRACE(looping.name + (checkpointed ? ", checkpointed" : ""));
      TrainingPlan p = example::plan(1, looping.length);
      p.kernels.attention.value = looping.attention;
      p.batch.gradient_accumulation_steps.value = 2;
      p.checkpointing.on.value = checkpointed;
      const Played few = play(p, example::architecture(looping.model), true);
      const Unrolled together = unroll(few.timeline, Turns::together);
      const Unrolled apart = unroll(few.timeline);
      EXPECT_EQ(together.events.size() < apart.events.size(), looping.length == 4000);
      EXPECT_EQ(requested(together), requested(apart));
    }
  }
}

TEST(Loops, OfManyLayersGiveTheFootprintOfAllTurns) {
  const Architecture model = example::architecture(sized("mamba", {{"num_hidden_layers", "9"}}));
  const TrainingPlan p = example::plan(1, 21);
  const Played all = play(p, model, false);
  const Footprint f = example::played(p, model);
  const Peaks peaks(all.timeline);
  ASSERT_EQ(f.peaks.size(), peaks.of_phases().size());
  for (std::size_t i = 0; i < f.peaks.size(); ++i) EXPECT_EQ(f.peaks[i].total.count(), peaks.of_phases()[i].bytes);
}

TEST(Loops, ShortOnesArePlayedTurnByTurn) {
  const Architecture model = example::architecture(sized("mamba", {}));
  EXPECT_TRUE(play(example::plan(1, 8), model, true).run->torch.loops.all().empty());
}

}  // namespace
}  // namespace oomplan::estimator
