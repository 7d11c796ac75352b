#include "side.hpp"

#include <algorithm>
#include <unordered_map>

#include "oomplan/core/bytes.hpp"

namespace oomplan::comparing {
namespace {

using Action = SnapshotEvent::Action;

// Of no card; keeps sums of a hostile file within range.
constexpr std::int64_t largest = std::int64_t{1} << 50;

std::int64_t rounded(std::int64_t bytes) {
  return Bytes(std::clamp<std::int64_t>(bytes, 0, largest)).rounded_up(512).count();
}

class Reading {
 public:
  Reading(const Snapshot& snapshot, std::size_t device) : snapshot_(snapshot), device_(device) {
    if (device < snapshot.traces.size()) trace_ = &snapshot.traces[device];
  }

  Side side() && {
    add_start();
    if (trace_ == nullptr) return std::move(out_);
    for (std::size_t i = 0; i < trace_->size(); ++i) add((*trace_)[i], static_cast<std::uint32_t>(i + 1));
    return std::move(out_);
  }

 private:
  std::uint32_t tensor(std::int64_t bytes, std::uint32_t stack, std::uint32_t entry) {
    out_.tensors.push_back({rounded(bytes), stack, entry});
    return static_cast<std::uint32_t>(out_.tensors.size() - 1);
  }

  /// Of what the trace frees or leaves, that which it did not allocate.
  void add_start() {
    std::unordered_map<std::int64_t, bool> known;
    const auto held = [&](std::int64_t address, std::int64_t bytes, std::uint32_t stack) {
      out_.start.push_back(live_[address] = tensor(bytes, stack, 0));
    };
    if (trace_ != nullptr) {
      for (const SnapshotEvent& event : *trace_) {
        const bool free = event.action == Action::free;
        if (!free && event.action != Action::allocate) continue;
        if (known.try_emplace(event.address).second && free) held(event.address, event.size, event.stack);
      }
    }
    for (const SnapshotSegment& segment : snapshot_.segments) {
      if (segment.device != static_cast<std::int64_t>(device_)) continue;
      for (const SnapshotBlock& block : segment.blocks) {
        if (block.state == SnapshotBlock::State::inactive || !known.try_emplace(block.address).second) continue;
        held(block.address, block.asked > 0 ? block.asked : block.size, block.stack);
      }
    }
  }

  void add(const SnapshotEvent& event, std::uint32_t entry) {
    if (event.action == Action::allocate && event.size > 0) {
      const std::uint32_t made = tensor(event.size, event.stack, entry);
      live_[event.address] = made;
      out_.moves.push_back({.tensor = made, .allocates = true, .entry = entry});
    } else if (event.action == Action::free) {
      const auto found = live_.find(event.address);
      if (found == live_.end()) return;
      out_.moves.push_back({.tensor = found->second, .allocates = false, .entry = entry});
      live_.erase(found);
    }
  }

  const Snapshot& snapshot_;
  std::size_t device_;
  const std::vector<SnapshotEvent>* trace_ = nullptr;
  std::unordered_map<std::int64_t, std::uint32_t> live_{};
  Side out_{};
};

}  // namespace

Side side_of(const Snapshot& snapshot, std::size_t device) { return Reading(snapshot, device).side(); }

std::int64_t apart(const Sizes& a, const Sizes& b) {
  std::int64_t out = 0;
  const auto add = [&](std::int64_t size, std::int64_t count) {
    out = saturating_add(out, saturating_mul(size, count < 0 ? -count : count));
  };
  for (const auto& [size, count] : a) {
    const auto other = b.find(size);
    add(size, count - (other == b.end() ? 0 : other->second));
  }
  for (const auto& [size, count] : b)
    if (!a.contains(size)) add(size, count);
  return out;
}

std::int64_t total(const Sizes& sizes) { return apart(sizes, {}); }

std::vector<std::uint32_t> live_after(const Side& side, std::size_t moves) {
  std::vector<bool> live(side.tensors.size());
  for (const std::uint32_t tensor : side.start) live[tensor] = true;
  for (std::size_t i = 0; i < moves; ++i) live[side.moves[i].tensor] = side.moves[i].allocates;
  std::vector<std::uint32_t> out;
  for (std::uint32_t tensor = 0; tensor < live.size(); ++tensor)
    if (live[tensor]) out.push_back(tensor);
  return out;
}

Sizes sizes_of(const Side& side, const std::vector<std::uint32_t>& tensors) {
  Sizes out;
  for (const std::uint32_t tensor : tensors) ++out[side.tensors[tensor].bytes];
  return out;
}

std::size_t highest(const Side& side, std::size_t moves) {
  std::int64_t level = 0;
  std::int64_t most = 0;  // less than what is there at the start does not count
  std::size_t out = 0;
  for (std::size_t i = 0; i < moves; ++i) {
    const std::int64_t bytes = side.tensors[side.moves[i].tensor].bytes;
    level = side.moves[i].allocates ? saturating_add(level, bytes) : saturating_sub(level, bytes);
    if (level <= most) continue;
    most = level;
    out = i + 1;
  }
  return out;
}

}  // namespace oomplan::comparing
