#include "repetition.hpp"

#include <algorithm>

#include "torch/looped.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t enough = 5;           // Units built of a run that repeats.
constexpr std::int64_t longest_period = 64;  // No model alternates over more layers.

/// Layers [first, first + units * period) of a segment, alike from period to period.
struct Run {
  std::int64_t first = 0;
  std::int64_t period = 1;
  std::int64_t units = 0;
  std::int64_t saved() const { return units > enough ? (units - enough) * period : 0; }
};

using Kinds = std::vector<std::uint8_t>;

/// The run of this period from `first` on.
Run run_from(const Kinds& kinds, std::int64_t first, std::int64_t period) {
  const auto count = static_cast<std::int64_t>(kinds.size());
  std::int64_t end = first;
  while (end + period < count &&
         kinds[static_cast<std::size_t>(end)] == kinds[static_cast<std::size_t>(end + period)]) {
    ++end;
  }
  return {first, period, (end + period - first) / period};
}

/// The one that saves most layers, the shortest period and the first of them among equals.
Run longest_run(const Kinds& kinds) {
  const auto count = static_cast<std::int64_t>(kinds.size());
  Run best;
  for (std::int64_t period = 1; period <= std::min(longest_period, count / (enough + 1)); ++period) {
    for (std::int64_t first = 0; first + period <= count;) {
      const Run run = run_from(kinds, first, period);
      if (run.saved() > best.saved()) best = run;
      first += std::max<std::int64_t>(1, (run.units - 1) * period + 1);
    }
    if (best.saved() == count - enough) break;  // All are alike.
  }
  return best;
}

/// Of all models that are not built of the same architecture.
std::vector<const Segment*> segments_of(std::span<const Architecture> models) {
  std::vector<const Segment*> out;
  for (const Architecture& model : models) {
    for (const Architecture* a = &model; a != nullptr; a = a->teacher.get()) {
      for (const Segment& s : a->body) out.push_back(&s);
    }
  }
  return out;
}

/// A segment's kinds, twice as many for each thing that is done to some layers and not to others.
Kinds kinds_of(const Segment& segment, const ByNumber& by) {
  Kinds out = segment.layers;
  const std::int64_t count = std::ssize(out);
  const auto split = [&](bool asked, const auto& is_one) {
    for (std::int64_t i = 0; asked && i < count; ++i) {
      std::uint8_t& kind = out[static_cast<std::size_t>(i)];
      kind = static_cast<std::uint8_t>(2 * kind + (is_one(i) ? 1 : 0));
    }
  };
  split(by.trained_layers != 0, [&](std::int64_t i) { return in_trained_layers(i, count, by.trained_layers); });
  split(by.checkpointed.many > 1, [&](std::int64_t i) { return by.checkpointed.is(i); });
  split(!by.lora_layers.empty(), [&](std::int64_t i) { return std::ranges::count(by.lora_layers, i) > 0; });
  return out;
}

}  // namespace

bool in_trained_layers(std::int64_t number, std::int64_t layers, std::int64_t trained) {
  return trained > 0 ? number >= layers - trained : number < -trained;
}

Repetition::Repetition(int built, std::int64_t layers) {
  const std::int64_t middle = built / 2;
  for (std::int64_t i = 0; i < built; ++i) {
    const bool repeated = i == middle && built < layers;
    add(0, i > middle ? layers - built + i : i, 1, repeated ? layers - built + 1 : 1);
  }
}

Repetition Repetition::whole_of(std::span<const Architecture> models) {
  Repetition out;
  int segment = 0;
  for (const Segment* s : segments_of(models)) out.add_each(segment++, 0, std::ssize(s->layers));
  return out;
}

Repetition Repetition::folded(std::span<const Architecture> models, const ByNumber& by_number) {
  Repetition out;
  int segment = 0;
  for (const Segment* s : segments_of(models)) out.fold(segment++, *s, by_number);
  return out;
}

void Repetition::fold(int segment, const Segment& layers, const ByNumber& by_number) {
  const Kinds kinds = kinds_of(layers, by_number);
  const Run run = layers.groups == 0 ? longest_run(kinds) : Run{};
  const auto period = static_cast<int>(run.period);
  const std::int64_t left = run.saved() > 0 ? run.units - enough : 0;
  add_each(segment, 0, run.first);
  for (std::int64_t i = 0; left > 0 && i < enough; ++i) {
    const std::int64_t at = i > enough / 2 ? i + left : i;
    add(segment, run.first + at * run.period, period, i == enough / 2 ? left + 1 : 1);
  }
  add_each(segment, left > 0 ? run.first + run.units * run.period : run.first, std::ssize(kinds));
}

std::int64_t Repetition::number(int layer, std::int64_t turn) const {
  const Unit& u = unit(unit_of(layer));
  return u.of_loop ? u.number : u.number + turn * u.layers + (layer - u.first);
}

void Repetition::add_loop(int layer, std::int64_t turns) {
  const Unit owner = unit(unit_of(layer));
  for (std::int64_t i = 0; i < Loops::played; ++i) {
    add(owner.segment, number(layer, 0), 1, i == Loops::played / 2 ? turns - Loops::played + 1 : 1);
    units_.back().of_loop = true;
  }
}

void Repetition::give_turns(int layer) {
  if (places_.empty()) {
    for (int l = 0; l < built(); ++l) places_.push_back(l - unit(unit_of(l)).first);
  }
  const auto owner = static_cast<std::int16_t>(unit_of(layer));
  const auto given = std::ranges::count(unit_of_, owner);
  for (std::int64_t i = 0; i < Loops::played; ++i) {
    unit_of_.push_back(owner);
    places_.push_back(static_cast<std::int32_t>(given + i));
  }
}

void Repetition::add(int segment, std::int64_t number, int layers, std::int64_t times) {
  const auto first = static_cast<int>(unit_of_.size());
  unit_of_.insert(unit_of_.end(), static_cast<std::size_t>(layers), static_cast<std::int16_t>(units_.size()));
  units_.push_back({first, layers, segment, number, times});
  whole_ = whole_ && times == 1;
}

void Repetition::add_each(int segment, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; ++i) add(segment, i, 1, 1);
}

}  // namespace oomplan::estimator
