// Which layers of a run's models are built and played, and for how many of its layers each stands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oomplan/catalog/architecture.hpp"

namespace oomplan::estimator {

/// Layers built side by side that repeat together: one where all are alike, a period where kinds of layers alternate.
struct Unit {
  int first = 0;  ///< Of the layers built.
  int layers = 1;
  int segment = 0;          ///< Of the first model's body, then of its teacher's, then of the next model's.
  std::int64_t number = 0;  ///< Of `first` among the layers of its segment; where repeated, of the first turn.
  std::int64_t times = 1;   ///< How many equal units of the model it stands for.
  bool of_loop = false;     ///< A turn of a loop within layer `number`.
};

/// Of so many layers one, counted from the first layer on: the last of them, or the first.
struct OneOf {
  std::int64_t many = 1;
  bool first = false;
  constexpr bool is(std::int64_t number) const { return many <= 1 || number % many == (first ? 0 : many - 1); }
};

/// Whether layer `number` of so many is one of those that RecipeFacts::trained_layers names.
bool in_trained_layers(std::int64_t number, std::int64_t layers, std::int64_t trained);

/// What else than its kind makes a layer another one, by its number.
struct ByNumber {
  std::int64_t trained_layers = 0;  ///< As RecipeFacts has it.
  OneOf checkpointed{};
  std::vector<std::int64_t> lora_layers{};  ///< Where it is not empty, they alone carry adapters.
};

class Repetition {
 public:
  /// `built` of `layers` equal ones; where they are fewer, the middle one stands for those that are not built.
  Repetition(int built, std::int64_t layers);
  /// Every layer is built, of models one after the other.
  static Repetition whole_of(std::span<const Architecture> models);
  static Repetition whole_of(const Architecture& architecture) { return whole_of(std::span(&architecture, 1)); }
  /// Of each segment's longest run of equal periods five are built: two at each end, which may differ (the first has no
  /// gradient to give, the last hands on to the head), one in the middle for all the others, and its neighbours to
  /// check it by. Layers are alike where what is done by their number agrees too.
  static Repetition folded(std::span<const Architecture> models, const ByNumber& by_number = {});
  static Repetition folded(const Architecture& architecture, const ByNumber& by_number = {}) {
    return folded(std::span(&architecture, 1), by_number);
  }

  /// The turns of a loop within a layer built, a few of so many, numbered as layers built after all others.
  void add_loop(int layer, std::int64_t turns);

  /// The turns of such a loop as part of the unit that the layer is in.
  void give_turns(int layer);
  /// Of a layer built in its unit; turns given to it come behind its layers.
  int place(int layer) const {
    return places_.empty() ? layer - unit(unit_of(layer)).first : places_[static_cast<std::size_t>(layer)];
  }

  /// How many layers are built.
  std::int64_t built() const { return std::ssize(unit_of_); }
  const std::vector<Unit>& units() const { return units_; }
  const Unit& unit(int index) const { return units_[static_cast<std::size_t>(index)]; }
  /// The unit of a layer built; -1 outside any (layer -1).
  int unit_of(int layer) const { return layer < 0 ? -1 : unit_of_[static_cast<std::size_t>(layer)]; }
  std::int64_t times(int unit) const { return unit < 0 ? 1 : units_[static_cast<std::size_t>(unit)].times; }
  bool repeats(int unit) const { return times(unit) > 1; }
  /// No unit stands for more than itself.
  bool whole() const { return whole_; }
  /// The number that a layer built has in its segment, in the `turn`-th of its unit's repetitions.
  std::int64_t number(int layer, std::int64_t turn) const;

 private:
  Repetition() = default;
  void fold(int segment, const Segment& layers, const ByNumber& by_number);
  void add(int segment, std::int64_t number, int layers, std::int64_t times);
  void add_each(int segment, std::int64_t from, std::int64_t to);

  std::vector<Unit> units_{};
  std::vector<std::int16_t> unit_of_{};  ///< Of each layer built.
  bool whole_ = true;
  std::vector<std::int32_t> places_{};  ///< Where some have turns: of each layer built.
};

}  // namespace oomplan::estimator
