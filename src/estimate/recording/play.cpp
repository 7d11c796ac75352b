// The allocator, played along a recording.
#include <algorithm>
#include <utility>

#include "../allocator/sizes.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/recording.hpp"
#include "segment_for.hpp"

namespace oomplan {

std::int64_t recording::segment_for(std::int64_t size, const AllocatorSettings& settings) {
  return allocator::segment_size(allocator::block_size(std::max<std::int64_t>(size, 1), settings), settings);
}

namespace {

using Kind = RecordedStep::Kind;

// As in the accounts of diagnose: a traceback's unwinding allocates nothing.
constexpr std::int64_t went_on_after = 100;

Card card_of(DriverAs driver) {
  return {.order = driver == DriverAs::ascending ? SegmentOrder::ascending : SegmentOrder::descending};
}

/// What was in use at the beginning, asked for anew in the order of addresses.
bool allocate_held(const Recording& recording, Allocator& allocator) {
  for (const HeldSegment& segment : recording.start) {
    for (const HeldSegment::Piece& piece : segment.pieces) {
      if (piece.slot == HeldSegment::free) continue;
      if (!allocator.allocate(piece.slot, Bytes(piece.size))) return false;
    }
  }
  return true;
}

/// Plays what was recorded, and counts how far both agree.
class AsRecorded {
 public:
  AsRecorded(const Recording& recording, DriverAs driver)
      : recording_(recording), driver_(driver), allocator_(own_settings(recording), card_of(driver)) {
    if (!allocator_.hold(recording.start)) allocate_held(recording, allocator_);
  }

  PlayedRecording play() {
    for (const RecordedStep& step : recording_.steps) {
      if (step.kind == Kind::release) {
        release(step);
      } else {
        released_ = 0;
        play(step);
      }
    }
    if (out_.failure && since_failure_ >= went_on_after) survive();
    out_.statistics = allocator_.statistics();
    return std::move(out_);
  }

 private:
  /// A fraction of a card that nobody knows is no limit; where it was met, the trace says so.
  static AllocatorSettings own_settings(const Recording& recording) {
    AllocatorSettings out = recording.settings;
    out.memory_fraction = 1;
    return out;
  }

  void play(const RecordedStep& step) {
    if (step.kind == Kind::new_segment) pending_.push_back(step);
    if (step.kind == Kind::free) allocator_.free(step.slot);
    if (step.kind == Kind::allocate) allocate(step);
    if (step.kind == Kind::out_of_memory) fail(step);
  }

  /// With the driver's own addresses each segment goes by name; else all that is free does, once for a run of them.
  void release(const RecordedStep& step) {
    const bool by_name = driver_ == DriverAs::recorded && !recording_.settings.expandable_segments;
    if (!by_name && released_ == 0) allocator_.empty_cache();
    if (by_name && !allocator_.release(static_cast<std::uint64_t>(step.address), step.size)) differ(step.entry);
    ++released_;
  }

  void allocate(const RecordedStep& step) {
    const AllocatorStatistics before = allocator_.statistics();
    const bool placed = driver_ == DriverAs::recorded && !pending_.empty();
    allocator_.place_next(placed ? static_cast<std::uint64_t>(pending_.front().address) : 0);
    allocator_.allocate(step.slot, Bytes(step.size));
    compare(before, step);
    pending_.clear();
    ++since_failure_;
  }

  void compare(const AllocatorStatistics& before, const RecordedStep& step) {
    Agreement& agreement = out_.agreement;
    const AllocatorStatistics& now = allocator_.statistics();
    std::int64_t recorded = 0;
    for (const RecordedStep& segment : pending_) recorded = saturating_add(recorded, segment.size);
    ++agreement.allocations;
    agreement.segments += static_cast<std::int64_t>(pending_.size());
    const bool at_address = allocator_.address(step.slot) == static_cast<std::uint64_t>(step.address);
    agreement.at_their_address += at_address ? 1 : 0;
    if ((now.reserved - before.reserved).count() != recorded) return differ(step.entry);
    agreement.same += static_cast<std::int64_t>(pending_.size());
  }

  void differ(std::int64_t entry) {
    if (!out_.agreement.first_different) out_.agreement.first_different = entry;
  }

  void fail(const RecordedStep& step) {
    if (out_.failure && since_failure_ >= went_on_after) survive();
    const std::int64_t missing = recording::segment_for(step.size, recording_.settings);
    allocator_.leave_free(Bytes(std::clamp<std::int64_t>(step.address, 0, std::max<std::int64_t>(missing - 512, 0))));
    const std::uint32_t slot = recording_.slots;
    if (allocator_.allocate(slot, Bytes(step.size))) {
      allocator_.free(slot);
      differ(step.entry);
    }
    allocator_.leave_free(Card::unlimited);
    const AllocatorStatistics& s = allocator_.statistics();
    out_.failure = {step.entry, {Bytes(step.size), s.allocated, s.reserved, words(step)}};
    since_failure_ = 0;
  }

  static std::string words(const RecordedStep& step) {
    return "The recording's allocation of " + to_text(Bytes(step.size)) + " failed, with " +
           to_text(Bytes(step.address)) + " free on the device.";
  }

  void survive() {
    ++out_.survived;
    out_.failure.reset();
  }

  const Recording& recording_;
  DriverAs driver_;
  Allocator allocator_;
  PlayedRecording out_{};
  std::vector<RecordedStep> pending_{};  // segments since the last allocation
  std::int64_t released_ = 0;            // of the run at hand
  std::int64_t since_failure_ = 0;       // allocations
};

/// Plays the same requests, and only what the program asked for of the releases.
class Otherwise {
 public:
  Otherwise(const Recording& recording, const AllocatorSettings& settings, const Card& card)
      : recording_(recording), allocator_(settings, card) {
    const bool taken_over = settings == recording.settings && allocator_.hold(recording.start);
    if (!taken_over && !allocate_held(recording, allocator_)) fail(0);
  }

  PlayedRecording play() {
    for (const RecordedStep& step : recording_.steps) {
      if (out_.failure) break;
      play(step);
    }
    out_.statistics = allocator_.statistics();
    return std::move(out_);
  }

 private:
  void play(const RecordedStep& step) {
    const bool emptied = step.kind == Kind::release && step.of_the_program;
    if (emptied && !emptying_) allocator_.empty_cache();
    emptying_ = emptied;
    if (step.kind == Kind::free) allocator_.free(step.slot);
    if (step.kind == Kind::allocate && !allocator_.allocate(step.slot, Bytes(step.size))) fail(step.entry);
    if (step.kind == Kind::out_of_memory) try_again(step);
  }

  /// What failed was never there for the events that follow.
  void try_again(const RecordedStep& step) {
    if (!allocator_.allocate(recording_.slots, Bytes(step.size))) return fail(step.entry);
    allocator_.free(recording_.slots);
  }

  void fail(std::int64_t entry) { out_.failure = {entry, *allocator_.out_of_memory()}; }

  const Recording& recording_;
  Allocator allocator_;
  PlayedRecording out_{};
  bool emptying_ = false;
};

}  // namespace

PlayedRecording play_as_recorded(const Recording& recording, DriverAs driver) {
  return AsRecorded(recording, driver).play();
}

PlayedRecording play_otherwise(const Recording& recording, const AllocatorSettings& settings, const Card& card) {
  return Otherwise(recording, settings, card).play();
}

}  // namespace oomplan
