#include "oomplan/estimate/recording.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>
#include <utility>

#include "segment_for.hpp"
#include "space.hpp"

namespace oomplan {
namespace {

using Action = SnapshotEvent::Action;
using Kind = RecordedStep::Kind;
using recording::Space;

constexpr std::int64_t large_page = std::int64_t{20} << 20;

/// Where the text does not say it: the fields that PyTorch writes beside it.
AllocatorSettings settings_of_fields(const SnapshotSettings& from) {
  AllocatorSettings out;
  out.expandable_segments = from.expandable_segments;
  if (from.max_split >= large_page) out.max_split = Bytes(from.max_split);
  const double threshold = from.garbage_collection_threshold;
  if (threshold > 0 && threshold < 1) out.garbage_collection_threshold = threshold;
  for (std::size_t i = 0; i < out.roundup_divisions.size(); ++i) {
    const std::int64_t value = from.roundup_divisions[i];
    if (value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value))) out.roundup_divisions[i] = value;
  }
  return out;
}

bool has_device(const SnapshotSegment& segment, std::size_t device) {
  return segment.device == static_cast<std::int64_t>(device);
}

/// A release that a program asks for says so in its stack.
std::vector<bool> stacks_that_empty_the_cache(const Snapshot& snapshot) {
  std::vector<bool> frames;
  for (const SnapshotFrame& frame : snapshot.frames)
    frames.push_back(frame.function == "empty_cache" || frame.function.find("emptyCache") != std::string::npos);
  std::vector<bool> out;
  for (const SnapshotStack& stack : snapshot.stacks)
    out.push_back(std::ranges::any_of(stack, [&](std::uint32_t frame) { return frames[frame]; }));
  return out;
}

bool releases(const SnapshotEvent& event) {
  return event.action == Action::segment_free || event.action == Action::segment_unmap;
}

bool takes_memory(const SnapshotEvent& event) {
  return event.action == Action::segment_alloc || event.action == Action::segment_map;
}

/// Takes one device's trace back, then writes down its steps.
class Reading {
 public:
  Reading(const Snapshot& snapshot, std::size_t device, Recording& out)
      : snapshot_(snapshot), device_(device), trace_(snapshot.traces[device]), out_(out), space_(out.settings) {}

  Diagnostics run() {
    if (!begin_at_end() || !undo_all()) return {contradiction()};
    take_start();
    count_reserved();
    add_steps();
    return {};
  }

 private:
  bool begin_at_end() {
    for (const SnapshotSegment& segment : snapshot_.segments) {
      if (!has_device(segment, device_)) continue;
      end_ = saturating_add(end_, segment.size);
      if (!space_.add_segment(segment.address, {segment.size, segment.small, segment.expandable})) return false;
      for (const SnapshotBlock& block : segment.blocks) {
        if (block.state == SnapshotBlock::State::inactive) continue;
        if (!space_.add_block(block.address, block.size)) return false;
      }
    }
    return true;
  }

  bool undo_all() {
    for (at_ = trace_.size(); at_ > 0; --at_) {
      if (!undo(trace_[at_ - 1])) return false;
    }
    return true;
  }

  bool undo(const SnapshotEvent& event) {
    switch (event.action) {
      case Action::allocate:
        return space_.undo_allocate(event.address);
      case Action::free:
        return space_.undo_free(event.address, event.size);
      case Action::segment_alloc:
        return space_.undo_segment_alloc(event.address, event.size);
      case Action::segment_free:
        return space_.undo_segment_free(event.address, event.size);
      case Action::segment_map:
        return space_.undo_map(event.address, event.size);
      case Action::segment_unmap:
        return space_.undo_unmap(event.address, event.size);
      default:
        return true;
    }
  }

  Diagnostic contradiction() const {
    const std::string place = at_ == 0 ? "" : ": its event " + std::to_string(at_) + " cannot have been";
    return {
        .code = "read/inconsistent-snapshot",
        .message = "the trace of GPU " + std::to_string(device_) + " does not lead to the snapshot's segments" + place,
        .where = {snapshot_.file},
        .hint =
            "recorded in one go, from one process, it does; was recording stopped and begun anew, or the file edited?"};
  }

  void take_start() {
    out_.start = space_.segments([&](std::int64_t address) { return slot_for(address); });
  }

  std::uint32_t slot_for(std::int64_t address) {
    if (unused_.empty()) unused_.push_back(out_.slots++);
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    slots_[address] = slot;
    return slot;
  }

  /// What was reserved before each entry is what the end has, less what came and with what went after it.
  void count_reserved() {
    for (const SnapshotEvent& event : trace_) {
      if (takes_memory(event)) end_ = saturating_sub(end_, event.size);
      if (releases(event)) end_ = saturating_add(end_, event.size);
    }
    reserved_ = most_ = end_;
    for (const SnapshotEvent& event : trace_) most_ = std::max(most_, change(event));
    reserved_ = end_;
  }
  std::int64_t change(const SnapshotEvent& event) {
    if (takes_memory(event)) reserved_ = saturating_add(reserved_, event.size);
    if (releases(event)) reserved_ = saturating_sub(reserved_, event.size);
    return reserved_;
  }

  void add_steps() {
    const std::vector<bool> emptying = stacks_that_empty_the_cache(snapshot_);
    for (at_ = 1; at_ <= trace_.size(); ++at_) {
      const SnapshotEvent& event = trace_[at_ - 1];
      add(event);
      if (releases(event)) out_.steps.back().of_the_program = is_of_the_program(event, emptying);
      change(event);
      if (event.action == Action::out_of_memory) note_room(event);
    }
    out_.streams = static_cast<std::int64_t>(streams_.size());
  }

  void add(const SnapshotEvent& event) {
    RecordedStep step{.entry = static_cast<std::uint32_t>(at_), .address = event.address, .size = event.size};
    switch (event.action) {
      case Action::allocate:
        streams_.insert(event.stream);
        step.slot = slot_for(event.address);
        break;
      case Action::free:
        step.kind = Kind::free;
        step.slot = take_slot(event.address);
        break;
      case Action::segment_alloc:
      case Action::segment_map:
        step.kind = Kind::new_segment;
        break;
      case Action::segment_free:
      case Action::segment_unmap:
        step.kind = Kind::release;
        break;
      case Action::out_of_memory:
        step.kind = Kind::out_of_memory;
        break;
      default:
        return;
    }
    out_.steps.push_back(step);
  }

  std::uint32_t take_slot(std::int64_t address) {
    const auto found = slots_.find(address);
    const std::uint32_t slot = found->second;
    slots_.erase(found);
    unused_.push_back(slot);
    return slot;
  }

  /// By its stack. Without one: what comes of it is no new segment, or one for which there was room before.
  bool is_of_the_program(const SnapshotEvent& event, const std::vector<bool>& emptying) {
    if (event.stack != 0) return emptying[event.stack];
    if (run_end_ < at_) {
      run_end_ = at_;
      while (run_end_ < trace_.size() && releases(trace_[run_end_])) ++run_end_;
      const bool last = run_end_ == trace_.size();
      const SnapshotEvent next = last ? SnapshotEvent{} : trace_[run_end_];
      run_is_of_the_program_ = last || (next.action != Action::out_of_memory && !takes_memory(next)) ||
                               (takes_memory(next) && saturating_add(reserved_, next.size) <= most_);
    }
    return run_is_of_the_program_;
  }

  /// The card that ran out: what was reserved, and what the device had free. A memory fraction leaves some of that.
  void note_room(const SnapshotEvent& event) {
    const std::int64_t missing = recording::segment_for(event.size, out_.settings);
    const std::int64_t free = std::clamp<std::int64_t>(event.address, 0, std::max<std::int64_t>(missing - 512, 0));
    out_.room = Bytes(saturating_add(std::max<std::int64_t>(reserved_, 0), free));
  }

  const Snapshot& snapshot_;
  std::size_t device_;
  const std::vector<SnapshotEvent>& trace_;
  Recording& out_;
  Space space_;
  std::size_t at_ = 0;  // the entry at work, from 1; 0 for the segments of the end
  std::int64_t end_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t most_ = 0;  // that was ever reserved
  std::size_t run_end_ = 0;
  bool run_is_of_the_program_ = false;
  std::unordered_map<std::int64_t, std::uint32_t> slots_{};
  std::vector<std::uint32_t> unused_{};
  std::set<std::int64_t> streams_{};
};

}  // namespace

Result<Recording> recording_of(const Snapshot& snapshot, std::size_t device) {
  Recording out{.alloc_conf = snapshot.settings.alloc_conf};
  const Result<AllocatorSettings> said = parse_alloc_conf(out.alloc_conf, snapshot.file);
  if (!said) return said.errors();
  out.settings = out.alloc_conf.empty() ? settings_of_fields(snapshot.settings) : *said;
  out.entries = static_cast<std::int64_t>(snapshot.traces[device].size());
  const Diagnostics errors = Reading(snapshot, device, out).run();
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace oomplan
