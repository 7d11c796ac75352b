// Events a second through the played allocator: training steps with lengths that vary, under each kind of setting. The
// counter to read is items_per_second.
//
//   build/release/allocator_speed [--benchmark_filter=default]
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "oomplan/estimate/allocator.hpp"

namespace {

using namespace oomplan;

/// A stack of layers whose activations live from forward to backward, and short-lived temporaries in between: sizes of
/// a model of a few billion parameters, batches of another length each step.
class Steps {
 public:
  std::vector<Event> run(int steps) {
    for (int step = 0; step < steps; ++step) one(std::uniform_int_distribution<std::int64_t>(64, 4096)(random_));
    return std::move(events_);
  }

 private:
  static constexpr int layers = 32;
  static constexpr int saved_per_layer = 16;

  std::uint32_t allocate(std::int64_t bytes) {
    std::uint32_t slot = next_;
    if (unused_.empty()) {
      ++next_;
    } else {
      slot = unused_.back();
      unused_.pop_back();
    }
    events_.push_back({Event::Kind::allocate, slot, bytes});
    return slot;
  }

  void free(std::uint32_t slot) {
    events_.push_back({Event::Kind::free, slot, 0});
    unused_.push_back(slot);
  }

  void temporary(std::int64_t bytes) { free(allocate(bytes)); }

  void one(std::int64_t length) {
    std::vector<std::uint32_t> saved;
    for (int i = 0; i < layers * saved_per_layer; ++i) {
      saved.push_back(allocate(length * 4096 * (1 + i % 3)));
      saved.push_back(allocate(length * 8));
      temporary(length * 8192);
    }
    while (!saved.empty()) {
      temporary(length * 8192);
      free(saved.back());
      saved.pop_back();
    }
  }

  std::mt19937_64 random_{20240601};
  std::vector<Event> events_{};
  std::vector<std::uint32_t> unused_{};
  std::uint32_t next_ = 0;
};

const std::vector<Event>& events() {
  static const std::vector<Event> all = Steps().run(200);
  return all;
}

void play(benchmark::State& state, const std::string& conf, Bytes total) {
  const auto settings = parse_alloc_conf(conf, "conf");
  Allocator allocator(*settings, {.total = total});
  for (auto _ : state) {
    allocator.reset({.total = total});
    for (const Event& event : events()) {
      if (!allocator.play(event)) return state.SkipWithError("the card is too small");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events().size()));
}

BENCHMARK_CAPTURE(play, default, "", Card::unlimited);
BENCHMARK_CAPTURE(play, tight card, "", Bytes::gib(24));
BENCHMARK_CAPTURE(play, expandable, "expandable_segments:True", Card::unlimited);
BENCHMARK_CAPTURE(play, expandable on a tight card, "expandable_segments:True", Bytes::gib(24));
BENCHMARK_CAPTURE(play, max_split_size, "max_split_size_mb:128", Card::unlimited);
BENCHMARK_CAPTURE(play, garbage collection, "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9",
                  Bytes::gib(40));

}  // namespace

BENCHMARK_MAIN();
