// Five blocks played and repeated give what playing every block gives, for runs of real models.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "every_run.hpp"
#include "facts.hpp"
#include "oomplan/catalog/older_code.hpp"
#include "plans.hpp"
#include "readings.hpp"
#include "run.hpp"
#include "unroll.hpp"

namespace oomplan::estimator {
namespace {

Architecture deep(const Named& run, std::int64_t layers) {
  const char* key = run.model.contains("n_layer") ? "n_layer" : "num_hidden_layers";
  Architecture out = example::architecture(example::with(run.model, {{key, std::to_string(layers)}}));
  if (run.teacher.empty()) return out;
  const Architecture teacher =
      example::architecture(example::with(run.teacher, {{"num_hidden_layers", std::to_string(layers - 1)}}));
  out.teacher = std::make_shared<const Architecture>(teacher);
  return out;
}

RunPtr play(const Named& run, const Architecture& model, const Repetition& repetition) {
  const auto facts = resolve(run.plan, model);
  auto out = facts ? play_run(run.plan, *facts, model, repetition) : Result<RunPtr>(facts.errors());
  if (out) return std::move(*out);
  ADD_FAILURE() << run.name << ": " << to_text(out.errors().front());
  return RunPtr(new Run);
}

/// What is alive at a moment, alike in all but the layer.
using Group = std::tuple<Bucket, std::string, std::string, std::vector<std::int64_t>, DType, bool>;
struct Sum {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  int first = -1;
  int last = -1;
  friend bool operator==(const Sum&, const Sum&) = default;
};

using Groups = std::map<Group, Sum>;

void add(Groups& groups, const Group& group, const Sum& more) {
  Sum& sum = groups.try_emplace(group, Sum{0, 0, more.first, more.last}).first->second;
  sum = {sum.count + more.count, sum.bytes + more.bytes, std::min(sum.first, more.first),
         std::max(sum.last, more.last)};
}

Groups groups(const std::vector<LiveGroup>& all) {
  Groups out;
  for (const LiveGroup& g : all) {
    add(out, {g.bucket, g.op, g.module, g.shape, g.dtype, g.first_layer < 0},
        {g.count, g.bytes.count(), g.first_layer, g.last_layer});
  }
  return out;
}

Groups groups(const Run& run, const Repetition& repetition, const Peak& moment) {
  Groups out;
  for (const Live& live : alive_at(run.recorder(), repetition, moment)) {
    const Storage& s = run.recorder().storages[static_cast<std::size_t>(live.storage)];
    if (s.bytes == 0) continue;
    const std::string module = s.module < 0 ? "" : run.modules()[static_cast<std::size_t>(s.module)];
    const std::vector<std::int64_t> shape(s.shape.span().begin(), s.shape.span().end());
    add(out, {s.bucket, s.op, module, shape, s.dtype, live.first_layer < 0},
        {live.count, live.count * s.bytes, live.first_layer, live.last_layer});
  }
  return out;
}

/// The groups of either that the other has not, a line each.
std::string difference(const Groups& played, const Groups& expected) {
  std::string out;
  const auto lines = [&](const Groups& from, const Groups& other, const char* sign) {
    for (const auto& [g, sum] : from) {
      const auto same = other.find(g);
      if (same != other.end() && same->second == sum) continue;
      out += std::string(sign) + std::string(name_of(std::get<Bucket>(g))) + " " + std::get<1>(g) + " in " +
             std::get<2>(g) + ": " + std::to_string(sum.count) + ", " + std::to_string(sum.bytes) + " bytes, layers " +
             std::to_string(sum.first) + " to " + std::to_string(sum.last) + "\n";
    }
  };
  lines(played, expected, "+ ");
  lines(expected, played, "- ");
  return out;
}

void expect_same(const Named& named, std::int64_t layers) {
  SCOPED_TRACE(named.name + ", " + std::to_string(layers) + " layers");
  const Architecture model = as_run(deep(named, layers), named.plan.framework);
  const Repetition whole = Repetition::whole_of(model);
  const RunPtr all = play(named, model, whole);
  const Footprint f = example::played(named.plan, model);

  const std::vector<FullPeak> moments = peaks(all->recorder(), whole);
  ASSERT_EQ(f.peaks.size(), moments.size());
  for (std::size_t i = 0; i < moments.size(); ++i) {
    EXPECT_EQ(f.peaks[i].phase, moments[i].phase);
    EXPECT_EQ(f.peaks[i].total.count(), moments[i].bytes) << name_of(moments[i].phase) << ' ' << moments[i].step;
    EXPECT_EQ(f.peaks[i].by_bucket, moments[i].by_bucket) << name_of(moments[i].phase) << ' ' << moments[i].step;
  }
  const Peak& highest =
      *std::max_element(moments.begin(), moments.end(), [](const Peak& a, const Peak& b) { return a.bytes < b.bytes; });
  EXPECT_EQ(difference(groups(f.at_peak), groups(*all, whole, highest)), "");
  const std::vector<Peak> of_buckets = bucket_peaks(all->recorder(), whole);
  for (std::size_t b = 0; b < bucket_count; ++b) {
    EXPECT_EQ(f.bucket_peaks[b].by_bucket[b].count(), of_buckets[b].bytes) << bucket_names[b];
    Groups own = groups(*all, whole, of_buckets[b]);
    std::erase_if(own, [&](const auto& group) { return std::get<Bucket>(group.first) != static_cast<Bucket>(b); });
    EXPECT_EQ(difference(groups(f.at_bucket_peaks[b]), own), "") << bucket_names[b];
  }
  EXPECT_EQ(f.parameters, all->policy().total);
  EXPECT_EQ(f.trainable_parameters, all->policy().trained);
}

TEST(RepeatedBlocks, GiveTheFootprintOfBlocksPlayedOneByOne) {
  for (const Named& run : runs()) {
    for (const std::int64_t layers : {6, 7, 12}) expect_same(run, layers);
  }
}

TEST(RepeatedBlocks, UnrollToTheEventsOfBlocksPlayedOneByOne) {
  for (const Named& run : runs()) {
    SCOPED_TRACE(run.name);
    const Architecture model = deep(run, 11);
    const Repetition folded = Repetition::folded(model);
    const RunPtr few = play(run, model, folded);
    const Repetition each = Repetition::whole_of(model);
    const RunPtr all = play(run, model, each);
    const auto whole = unroll(Timeline(all->recorder(), each));
    EXPECT_TRUE(!run.folds || unroll(Timeline(few->recorder(), folded)) == whole);
    EXPECT_EQ(whole.handles.size(), 2U);
    const auto marks = std::ranges::count_if(whole.events, [](const oomplan::Event& e) {
      return e.kind != oomplan::Event::Kind::allocate && e.kind != oomplan::Event::Kind::free;
    });
    const Recorder& recorder = all->recorder();
    const auto sized = [&](const Event& e) { return recorder.at(e.storage).bytes > 0; };
    EXPECT_EQ(std::ssize(whole.events) - marks, std::ranges::count_if(recorder.events, sized));
  }
}

std::vector<oomplan::Event> events(TrainingPlan plan, const Architecture& model, std::vector<std::int64_t> lengths) {
  plan.batch.lengths.value = std::move(lengths);
  return estimate(plan, model, Detail::events)->events;
}

// Where it evaluates, another step comes after the evaluation.
TEST(Lengths, StepsOfTheLongestAreTheRunOfFixedLength) {
  for (const Named& run : runs()) {
    const Architecture model = deep(run, 7);
    const std::int64_t longest = run.plan.batch.sequence_length.value;
    const std::vector<std::int64_t> steps(run.plan.evaluation.evaluates.value ? 3 : 2, longest);
    EXPECT_EQ(events(run.plan, model, steps), events(run.plan, model, {})) << run.name;
  }
}

TEST(Lengths, AStepIsWrittenDownAgainAsItWouldBePlayed) {
  for (const Named& run : runs()) {
    const Architecture model = deep(run, 7);
    std::vector<oomplan::Event> twice = events(run.plan, model, {48, 16, 48});  // The third from the first.
    const std::vector<oomplan::Event> later = events(run.plan, model, {16, 48, 16});
    const auto bytes_of_step = [](const std::vector<oomplan::Event>& all, std::int64_t step) {
      std::vector<std::int64_t> out;
      std::int64_t at = 0;
      for (const oomplan::Event& e : all) {
        if (e.kind == oomplan::Event::Kind::mark) at = e.value / 16;
        if (e.kind == oomplan::Event::Kind::allocate && at == step) out.push_back(e.value);
      }
      return out;
    };
    EXPECT_EQ(bytes_of_step(twice, 3), bytes_of_step(later, 2)) << run.name;  // Played there.
  }
}

/// A Llama whose layers are of kinds: those given with another MLP than the others.
Architecture mixed(const std::vector<int>& kinds) {
  Architecture model = example::architecture(example::llama());
  Segment& body = model.body.front();
  body.kinds.push_back(body.kinds.front());
  for (OpSpec& op : body.kinds.back()) {
    if (op.op != "gated_mlp") continue;
    for (auto& [name, value] : op.attributes) {
      if (name == "inner") value = std::int64_t{768};
    }
  }
  body.layers.assign(kinds.begin(), kinds.end());
  model.layers = std::ssize(kinds);
  return model;
}

std::vector<int> repeated(const std::vector<int>& period, int times, std::vector<int> out = {}) {
  for (int i = 0; i < times; ++i) out.insert(out.end(), period.begin(), period.end());
  return out;
}

/// Folded and whole, a model's events are the same.
void expect_same_events(const Named& run, const Architecture& model) {
  const Repetition folded = Repetition::folded(model);
  const RunPtr few = play(run, model, folded);
  const Repetition whole = Repetition::whole_of(model);
  const RunPtr all = play(run, model, whole);
  const Timeline timeline(few->recorder(), folded);
  ASSERT_EQ(repeats_exactly(timeline), run.folds) << run.name;
  if (!run.folds) return;
  EXPECT_TRUE(unroll(timeline) == unroll(Timeline(all->recorder(), whole))) << run.name;
  EXPECT_EQ(few->policy().total, all->policy().total);
}

TEST(Folding, IsByThePeriodOfTheLayersKinds) {
  const Repetition r = Repetition::folded(mixed(repeated({0, 1}, 9)));
  ASSERT_EQ(r.units().size(), 5U);
  EXPECT_EQ(r.unit(2).times, 5);
  EXPECT_EQ(r.unit(2).layers, 2);
  EXPECT_EQ(r.number(6, 0), 14);
  EXPECT_EQ(r.number(5, 4), 13);
}

TEST(Folding, LeavesWhatComesBeforeAndAfter) {
  std::vector<int> kinds = repeated({0, 0, 1}, 7, {1, 1});
  kinds.push_back(0);
  const Repetition r = Repetition::folded(mixed(kinds));
  ASSERT_EQ(r.units().size(), 1U + 5 + 2);  // From the second layer on: 1, 0, 0, seven times.
  EXPECT_EQ(r.unit(3).times, 3);
  EXPECT_EQ(r.number(static_cast<int>(2 + 15), 0), std::ssize(kinds) - 1);
}

TEST(Folding, PlaysWhatDoesNotRepeatWhole) {
  EXPECT_TRUE(Repetition::folded(mixed({0, 1, 0, 0, 1, 1, 0, 1})).whole());
  EXPECT_TRUE(Repetition::folded(mixed(repeated({0, 1}, 5))).whole());
}

TEST(Folding, OfLayersThatAreTrainedByTheirNumberGivesTheEventsOfAllLayers) {
  const Architecture model = mixed(repeated({0}, 20));
  for (const std::int64_t layers : {2, -2, 12, 40}) {
    for (const bool checkpointed : {false, true}) {
      Named run = runs().front();
      run.model = example::llama();
      run.plan.recipe.trained_layers.value = layers;
      run.plan.checkpointing.on.value = checkpointed;
      const Repetition folded = Repetition::folded(model, {.trained_layers = layers});
      const RunPtr few = play(run, model, folded);
      const Repetition whole = Repetition::whole_of(model);
      const RunPtr all = play(run, model, whole);
      const Timeline timeline(few->recorder(), folded);
      ASSERT_TRUE(repeats_exactly(timeline)) << layers;
      EXPECT_TRUE(unroll(timeline) == unroll(Timeline(all->recorder(), whole))) << layers;
      EXPECT_LT(folded.units().size(), 20U);
      EXPECT_EQ(few->policy().trained, all->policy().trained);
    }
  }
}

TEST(Folding, OfLayersThatAloneCarryLoraGivesTheEventsOfAllLayers) {
  const Architecture model = mixed(repeated({0}, 20));
  std::vector<std::int64_t> late(10), odd(10);
  for (std::int64_t i = 0; i < 10; ++i) {
    late[static_cast<std::size_t>(i)] = 10 + i;
    odd[static_cast<std::size_t>(i)] = 2 * i + 1;
  }
  for (const std::vector<std::int64_t>& layers : {late, odd, {0, 1}}) {
    for (const bool checkpointed : {false, true}) {
      Named run = runs().front();
      run.model = example::llama();
      lora(run.plan);
      run.plan.adapter.targets.value = {"q_proj", "down_proj"};
      for (const std::int64_t layer : layers) run.plan.adapter.layers.value.push_back(std::to_string(layer));
      run.plan.checkpointing.on.value = checkpointed;
      const Repetition folded = Repetition::folded(model, {.lora_layers = layers});
      const RunPtr few = play(run, model, folded);
      const Repetition whole = Repetition::whole_of(model);
      const RunPtr all = play(run, model, whole);
      const Timeline timeline(few->recorder(), folded);
      ASSERT_TRUE(repeats_exactly(timeline));
      EXPECT_TRUE(unroll(timeline) == unroll(Timeline(all->recorder(), whole)));
      EXPECT_LT(folded.units().size(), 20U);
      // A rank of 8 beside 256 × 256 and 512 × 256.
      const auto count = static_cast<std::int64_t>(layers.size()) * run.plan.adapter.rank.value * (512 + 768);
      EXPECT_EQ(all->policy().trained, count);
      EXPECT_EQ(few->policy().trained, count);
    }
  }
}

TEST(Folding, OfKindsOfLayersGivesTheEventsOfAllLayers) {
  const std::vector<std::vector<int>> models{repeated({0, 1}, 8), repeated({0, 0, 1}, 7, {1, 1}),
                                             repeated({0}, 9, {1})};
  for (const Named& run : runs()) {
    if (run.model != example::llama()) continue;
    for (const std::vector<int>& kinds : models) expect_same_events(run, mixed(kinds));
  }
}

TEST(Folding, OfSegmentsGivesTheEventsOfAllLayers) {
  Architecture model = mixed(repeated({0}, 8));
  model.body.push_back(model.body.front());
  model.body.back().module = "model.more";
  model.body.back().stem = {{.op = "keep_residual"}};
  model.body.back().layers.assign(14, 1);
  for (int i = 0; i < 14; i += 2) model.body.back().layers[static_cast<std::size_t>(i)] = 0;
  model.layers = 22;
  EXPECT_EQ(Repetition::folded(model).units().size(), 10U);
  for (const Named& run : runs()) {
    const bool of_one_stack = run.plan.recipe.kind.value == RecipeKind::sentence_embedding;
    if (run.model == example::llama() && !of_one_stack) expect_same_events(run, model);
  }
}

TEST(RepeatedBlocks, AreUsedForEveryKindOfRun) {
  for (const Named& run : runs()) {
    const Architecture model = deep(run, 40);
    const Repetition folded = Repetition::folded(model);
    const auto few = play(run, model, folded);
    EXPECT_EQ(repeats_exactly(few->recorder(), folded), run.folds) << run.name;
  }
}

TEST(RepeatedBlocks, CountParametersOfTheBlocksThatAreNotBuilt) {
  const Footprint few = example::played(example::plan(1, 16), example::architecture(example::llama()));
  const Footprint many =
      example::played(example::plan(1, 16), example::architecture(example::llama({{"num_hidden_layers", "1002"}})));
  const std::int64_t layer = 2 * 256 + 2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 512;
  EXPECT_EQ(many.parameters - few.parameters, 1000 * layer);
}

TEST(Allocations, AreThoseOfTheEvents) {
  for (const Named& run : runs()) {
    const Architecture model = deep(run, 11);
    const auto groups = allocations(run.plan, model);
    ASSERT_TRUE(groups.ok()) << run.name;
    std::int64_t made = 0;
    Bytes bytes;
    for (const LiveGroup& group : *groups) {
      if (group.bytes > Bytes()) made += group.count;
      bytes += group.bytes;
      EXPECT_LE(group.last_layer, 10) << run.name;
    }
    std::int64_t events_made = 0;
    Bytes events_bytes;
    for (const oomplan::Event& e : events(run.plan, model, {})) {
      if (e.kind != oomplan::Event::Kind::allocate) continue;
      ++events_made;
      events_bytes += Bytes(e.value).rounded_up(512);
    }
    EXPECT_EQ(made, events_made) << run.name;
    EXPECT_EQ(bytes, events_bytes) << run.name;
  }
}

TEST(Detail, PeaksAloneAreTheSamePeaks) {
  for (const Named& run : runs()) {
    const Architecture model = deep(run, 7);
    const auto peaks = estimate(run.plan, model, Detail::peaks);
    ASSERT_TRUE(peaks.ok()) << run.name;
    const Footprint all = example::played(run.plan, model);
    ASSERT_EQ(peaks->peaks.size(), all.peaks.size());
    for (std::size_t i = 0; i < all.peaks.size(); ++i) EXPECT_EQ(peaks->peaks[i].by_bucket, all.peaks[i].by_bucket);
    EXPECT_EQ(peaks->peak.total, all.peak.total);
    EXPECT_EQ(peaks->peak.phase, all.peak.phase);
    EXPECT_EQ(peaks->parameters, all.parameters);
    EXPECT_TRUE(peaks->at_peak.empty());
  }
}

}  // namespace
}  // namespace oomplan::estimator
