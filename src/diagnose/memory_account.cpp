#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "oomplan/core/bytes.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/diagnose/stack_names.hpp"

namespace oomplan {
namespace {

using Action = SnapshotEvent::Action;
using diagnose::StackNames;

constexpr std::size_t most_lines = 10;
constexpr std::size_t most_growth = 5;
constexpr std::size_t most_frames = 8;
constexpr std::size_t most_devices = 64;
constexpr std::int64_t went_on_after = 100;       // allocations; a traceback's unwinding makes none
constexpr std::int64_t least_growth = 1LL << 20;  // in all: less is no one's leak
constexpr std::int64_t warm_up = 2;               // the optimizer's state comes with the first step
constexpr std::int64_t least_steps = 3;           // after that

/// What is in use by stack. Memory from before the trace has its own, where its stack is unknown.
struct Live {
  std::int64_t size = 0;
  std::uint32_t stack = 0;
  bool traced = false;  ///< Allocated within the trace.
};
using LiveBlocks = std::unordered_map<std::int64_t, Live>;

void add(Holding& to, std::int64_t bytes, std::int64_t blocks = 1) {
  to.bytes = saturating_add(to.bytes, bytes);
  to.blocks += blocks;
}

/// Of what the trace frees or leaves, that which it did not allocate.
LiveBlocks held_before(const Snapshot& snapshot, std::int64_t device, const std::vector<SnapshotEvent>& trace) {
  LiveBlocks out;
  std::unordered_map<std::int64_t, bool> known;
  for (const SnapshotEvent& event : trace) {
    const bool free = event.action == Action::free;
    if (!free && event.action != Action::allocate) continue;
    if (known.try_emplace(event.address).second && free) out[event.address] = {event.size, event.stack, false};
  }
  for (const SnapshotSegment& segment : snapshot.segments) {
    for (const SnapshotBlock& block : segment.blocks) {
      const bool active = block.state != SnapshotBlock::State::inactive && segment.device == device;
      if (active && known.try_emplace(block.address).second) out[block.address] = {block.size, block.stack, false};
    }
  }
  return out;
}

/// Live bytes by line at the end of each step, of what the trace allocated.
class Steps {
 public:
  Steps(const StackNames& names, std::size_t stacks) : names_(names), by_stack_(stacks, unknown) {
    for (std::uint32_t stack = 0; stack < stacks; ++stack) begins_.push_back(names.begins_backward(stack));
  }

  void allocated(const SnapshotEvent& event) {
    Line& line = line_of(event.stack);
    add(line.held, event.size);
    line.stack = event.stack;
    if (begins_[event.stack] && !in_backward_) end_step();
    if (event.stack != 0) in_backward_ = begins_[event.stack];
  }
  void freed(const Live& live) { add(line_of(live.stack).held, -live.size, -1); }

  std::int64_t count() const { return count_; }

  std::vector<Growth> growth() const {
    std::vector<Growth> out;
    const std::int64_t steps = count_ - warm_up;
    for (const auto& [name, line] : lines_) {
      const std::int64_t grown = line.latest - line.base;
      if (name.empty() || steps < least_steps || grown < least_growth || line.grew * 5 < steps * 4) continue;
      Growth found{line.held, grown, steps, line.grew};
      found.held.name = name;
      found.held.stack = names_.lines(line.stack, most_frames);
      out.push_back(std::move(found));
    }
    std::ranges::stable_sort(out, std::greater{}, &Growth::grown);
    if (out.size() > most_growth) out.resize(most_growth);
    return out;
  }

 private:
  struct Line {
    Holding held{};
    std::uint32_t stack = 0;
    std::int64_t base = 0;    // after the warm-up
    std::int64_t latest = 0;  // after the last whole step
    std::int64_t grew = 0;
    bool touched = false;  // since the last step
  };
  static constexpr std::uint32_t unknown = 0xFFFFFFFFU;

  Line& line_of(std::uint32_t stack) {
    if (by_stack_[stack] == unknown) {
      const auto [at, fresh] = index_.try_emplace(names_.line(stack), static_cast<std::uint32_t>(lines_.size()));
      if (fresh) lines_.emplace_back(at->first, Line{});
      by_stack_[stack] = at->second;
    }
    const std::uint32_t index = by_stack_[stack];
    Line& line = lines_[index].second;
    if (!line.touched) touched_.push_back(index);
    line.touched = true;
    return line;
  }

  void end_step() {
    ++count_;
    for (const std::uint32_t index : touched_) {
      Line& line = lines_[index].second;
      line.touched = false;
      if (count_ <= warm_up) line.base = line.held.bytes;
      if (count_ > warm_up && line.held.bytes > line.latest) ++line.grew;
      line.latest = line.held.bytes;
    }
    touched_.clear();
  }

  const StackNames& names_;
  std::vector<std::uint32_t> by_stack_;
  std::vector<bool> begins_{};
  std::map<std::string, std::uint32_t> index_{};
  std::vector<std::pair<std::string, Line>> lines_{};
  std::vector<std::uint32_t> touched_{};
  bool in_backward_ = false;
  std::int64_t count_ = 0;
};

// The engine's own threads run the backward pass, and they have no Python frames. Where nothing has any, that says
// nothing.
std::string without_frames(bool traced, bool stacks) {
  if (!traced) return "before the recording";
  return stacks ? std::string(diagnose::backward) : "no stacks were recorded";
}

void take_largest(std::map<std::string, Holding>& from, std::size_t most, std::vector<Holding>& out) {
  for (auto& [name, holding] : from) {
    holding.name = name;
    out.push_back(std::move(holding));
  }
  std::ranges::stable_sort(out, std::greater{}, &Holding::bytes);
  if (out.size() > most) out.resize(most);
}

/// Sums up what is live by category and line.
void count_held(const StackNames& names, const LiveBlocks& live, MemoryAccount& out) {
  std::map<std::pair<std::uint32_t, bool>, Holding> by_stack;
  for (const auto& [address, block] : live) {
    add(by_stack[{block.stack, block.stack == 0 && block.traced}], block.size);
    out.held = saturating_add(out.held, block.size);
  }
  std::map<std::string, Holding> categories;
  std::map<std::string, Holding> lines;
  std::map<std::string, std::int64_t> largest;
  for (const auto& [key, sum] : by_stack) {
    const bool framed = key.first != 0;
    add(categories[framed ? std::string(names.category(key.first)) : without_frames(key.second, out.stacks)], sum.bytes,
        sum.blocks);
    const std::string name = framed ? names.line(key.first) : without_frames(key.second, out.stacks);
    Holding& line = lines[name];
    add(line, sum.bytes, sum.blocks);
    if (sum.bytes > largest[name]) {
      largest[name] = sum.bytes;
      line.stack = names.lines(key.first, most_frames);
    }
  }
  take_largest(categories, categories.size(), out.categories);
  take_largest(lines, most_lines, out.lines);
}

/// One device's trace, event by event.
class Play {
 public:
  Play(const Snapshot& snapshot, const StackNames& names, const std::vector<SnapshotEvent>& trace, MemoryAccount& out)
      : live_(held_before(snapshot, out.device, trace)), steps_(names, snapshot.stacks.size()), out_(out) {
    const auto failed = std::find_if(trace.rbegin(), trace.rend(), [](const SnapshotEvent& event) {
      return event.action == SnapshotEvent::Action::out_of_memory;
    });
    if (failed != trace.rend()) failed_ = &*failed;
    out_.stacks = std::ranges::any_of(
        trace, [](const SnapshotEvent& event) { return event.action == Action::allocate && event.stack != 0; });
    for (const SnapshotEvent& event : trace) step(event);
    out_.went_on = failed_ != nullptr && since_ >= went_on_after;
    count_held(names, failed_ != nullptr && !out_.went_on ? at_failure_ : live_, out_);
    out_.steps = steps_.count();
    out_.growth = steps_.growth();
  }

 private:
  void step(const SnapshotEvent& event) {
    if (event.action == Action::allocate) return allocate(event);
    if (event.action == Action::free) return free(event);
    if (&event == failed_) fail(event);
  }
  void allocate(const SnapshotEvent& event) {
    live_[event.address] = {event.size, event.stack, true};
    steps_.allocated(event);
    ++since_;
  }
  void free(const SnapshotEvent& event) {
    const auto found = live_.find(event.address);
    if (found == live_.end()) return;
    if (found->second.traced) steps_.freed(found->second);
    live_.erase(found);
  }
  void fail(const SnapshotEvent& event) {
    out_.requested = event.size;
    out_.device_free = event.address;
    out_.failed_stack = event.stack;
    at_failure_ = live_;
    since_ = 0;
  }

  LiveBlocks live_;
  LiveBlocks at_failure_{};
  Steps steps_;
  MemoryAccount& out_;
  const SnapshotEvent* failed_ = nullptr;
  std::int64_t since_ = 0;  // allocations since it failed
};

void count_segments(const Snapshot& snapshot, MemoryAccount& out) {
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != out.device) continue;
    ++out.segments;
    out.reserved = saturating_add(out.reserved, segment.size);
    std::int64_t active = 0;
    std::int64_t free = 0;
    std::int64_t largest = 0;
    std::int64_t pieces = 0;
    for (const SnapshotBlock& block : segment.blocks) {
      const bool inactive = block.state == SnapshotBlock::State::inactive;
      (inactive ? free : active) = saturating_add(inactive ? free : active, block.size);
      pieces += inactive ? 1 : 0;
      if (inactive) largest = std::max(largest, block.size);
    }
    out.active = saturating_add(out.active, active);
    if (active == 0) continue;  // it could be given back whole
    out.split = saturating_add(out.split, free);
    out.splits += pieces;
    out.largest_split = std::max(out.largest_split, largest);
  }
}

}  // namespace

std::vector<MemoryAccount> accounts_of(const Snapshot& snapshot) {
  std::set<std::int64_t> devices;
  for (const SnapshotSegment& segment : snapshot.segments) devices.insert(segment.device);
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i) {
    if (!snapshot.traces[i].empty()) devices.insert(static_cast<std::int64_t>(i));
  }
  static const std::vector<SnapshotEvent> none;
  const StackNames names(snapshot);
  std::vector<MemoryAccount> out;
  for (const std::int64_t device : devices) {
    if (out.size() == most_devices) break;
    const bool traced = device >= 0 && static_cast<std::size_t>(device) < snapshot.traces.size();
    const std::vector<SnapshotEvent>& trace = traced ? snapshot.traces[static_cast<std::size_t>(device)] : none;
    MemoryAccount& account = out.emplace_back();
    account.file = snapshot.file;
    account.device = device;
    account.events = static_cast<std::int64_t>(trace.size());
    count_segments(snapshot, account);
    Play(snapshot, names, trace, account);
  }
  return out;
}

}  // namespace oomplan
