#include "traced.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocator/state.hpp"
#include "unlimited.hpp"
#include "unroll.hpp"
#include "walker.hpp"
#include "workspaces.hpp"

namespace oomplan::estimator {
namespace {

/// Where segments begin in a snapshot: JavaScript's numbers do not hold the addresses of the played card exactly.
constexpr std::uint64_t shown_middle = std::uint64_t{1} << 46;

std::int64_t shown(std::uint64_t address) {
  constexpr std::uint64_t middle = allocator::Device::middle;
  return static_cast<std::int64_t>(address >= middle / 2 ? address - middle + shown_middle : address);
}

/// The stack of each allocation, in the order of the events: the op in its module, its bucket, and its phase.
class Stacks {
 public:
  Stacks(const Timeline& timeline, const std::vector<std::string>& modules, Snapshot& out)
      : timeline_(timeline), modules_(modules), out_(out) {
    out_.stacks.emplace_back();
    Walker(timeline).walk([&](const Here& here) {
      if (here.allocated && at(here).bytes > 0) stacks_.push_back(stack_of(here));
    });
  }

  std::uint32_t next() { return next_ < stacks_.size() ? stacks_[next_++] : 0; }

  /// One frame alone.
  std::uint32_t named(std::string_view name) {
    out_.stacks.push_back({frame("oomplan", std::string(name))});
    return static_cast<std::uint32_t>(out_.stacks.size() - 1);
  }

 private:
  const Storage& at(const Here& here) const { return timeline_.recorder().at(here.latest); }

  std::uint32_t stack_of(const Here& here) {
    const auto key = std::tuple(here.latest, here.layer, here.phase, here.step);
    const auto [known, fresh] = known_.try_emplace(key, static_cast<std::uint32_t>(out_.stacks.size()));
    if (!fresh) return known->second;
    const Storage& storage = at(here);
    const std::string module = storage.module < 0 ? "" : modules_[static_cast<std::size_t>(storage.module)];
    out_.stacks.push_back(
        {frame(in_layer(module, here.layer), storage.op), frame("oomplan", std::string(name_of(storage.bucket))),
         frame("oomplan", std::string(name_of(here.phase)) + " of step " + std::to_string(here.step))});
    return known->second;
  }

  /// "model.layers.*.mlp" of a layer is "model.layers.3.mlp".
  static std::string in_layer(std::string module, int layer) {
    const auto star = module.find('*');
    if (layer >= 0 && star != std::string::npos) module.replace(star, 1, std::to_string(layer));
    return module;
  }

  std::uint32_t frame(std::string file, std::string function) {
    const auto [known, fresh] = frames_.try_emplace({file, function}, static_cast<std::uint32_t>(out_.frames.size()));
    if (fresh) out_.frames.push_back({std::move(file), 0, std::move(function)});
    return known->second;
  }

  const Timeline& timeline_;
  const std::vector<std::string>& modules_;
  Snapshot& out_;
  std::map<std::tuple<StorageId, int, Phase, int>, std::uint32_t> known_{};
  std::map<std::pair<std::string, std::string>, std::uint32_t> frames_{};
  std::vector<std::uint32_t> stacks_{};
  std::size_t next_ = 0;
};

/// Of memory that the driver gave.
struct Given {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t stream = 0;
};

/// What `some` have and `others` have not; both are sorted by address.
std::vector<Given> without(const std::vector<HeldSegment>& some, const std::vector<HeldSegment>& others) {
  const auto end_of = [](const HeldSegment& segment) {
    return segment.address + static_cast<std::uint64_t>(segment.size);
  };
  std::vector<Given> out;
  auto other = others.begin();
  for (const HeldSegment& one : some) {
    std::uint64_t at = one.address;
    const auto add_up_to = [&](std::uint64_t end) {
      if (end > at) out.push_back({at, static_cast<std::int64_t>(end - at), one.stream});
    };
    while (other != others.end() && end_of(*other) <= at) ++other;
    for (auto o = other; o != others.end() && o->address < end_of(one); ++o) {
      add_up_to(o->address);
      at = std::max(at, end_of(*o));
    }
    add_up_to(end_of(one));
  }
  return out;
}

/// Plays the run on an unlimited card and writes down what its recorder would.
class Trace {
 public:
  Trace(const AllocatorSettings& settings, Snapshot& out)
      : allocator_(settings),
        expandable_(settings.expandable_segments),
        events_(out.traces.emplace_back()),
        out_(out) {}

  void allocate(std::uint32_t slot, std::int64_t bytes, std::uint32_t stack) {
    const std::int64_t made = allocator_.statistics().device_allocs;
    fits_ = allocator_.allocate(slot, Bytes(bytes)) && fits_;
    if (allocator_.statistics().device_allocs != made) note_segments(stack);
    if (slot >= live_.size()) live_.resize(2 * std::size_t{slot} + 1);
    live_[slot] = {shown(allocator_.address(slot)), bytes, stack, std::exchange(stream_, 0)};
    add(SnapshotEvent::Action::allocate, live_[slot].address, bytes, stack, live_[slot].stream);
  }
  void free(std::uint32_t slot) {
    const Live& gone = live_[slot];
    add(SnapshotEvent::Action::free_requested, gone.address, gone.size, gone.stack, gone.stream);
    add(SnapshotEvent::Action::free, gone.address, gone.size, gone.stack, gone.stream);
    allocator_.free(slot);
  }
  /// What is allocated next is of this stream.
  void on_stream(const oomplan::Event& event) {
    allocator_.play(event);
    stream_ = event.value;
  }
  bool fits() const { return fits_; }
  void empty_cache() {
    allocator_.empty_cache();
    note_segments(0);
  }
  void end() {
    for (const HeldSegment& segment : allocator_.held()) {
      SnapshotSegment to{.size = segment.size,
                         .expandable = segment.expandable,
                         .address = shown(segment.address),
                         .stream = segment.stream,
                         .small = segment.small};
      std::int64_t address = to.address;
      for (const HeldSegment::Piece& piece : segment.pieces) {
        const bool free = piece.slot == HeldSegment::free;
        to.blocks.push_back({free ? SnapshotBlock::State::inactive : SnapshotBlock::State::active,
                             free ? 0 : live_[piece.slot].stack, address, piece.size,
                             free ? 0 : live_[piece.slot].size});
        address += piece.size;
      }
      out_.segments.push_back(std::move(to));
    }
  }

 private:
  struct Live {
    std::int64_t address = 0;
    std::int64_t size = 0;
    std::uint32_t stack = 0;
    std::int64_t stream = 0;
  };

  /// What came and what went since the last time: whole segments, or pages of expandable ones.
  void note_segments(std::uint32_t stack) {
    using enum SnapshotEvent::Action;
    std::vector<HeldSegment> now = allocator_.held();
    const auto note = [&](SnapshotEvent::Action action, const Given& s) {
      add(action, shown(s.address), s.size, stack, s.stream);
    };
    for (const Given& gone : without(segments_, now)) note(expandable_ ? segment_unmap : segment_free, gone);
    for (const Given& made : without(now, segments_)) note(expandable_ ? segment_map : segment_alloc, made);
    segments_ = std::move(now);
  }

  void add(SnapshotEvent::Action action, std::int64_t address, std::int64_t size, std::uint32_t stack,
           std::int64_t stream) {
    events_.push_back({.action = action, .stack = stack, .address = address, .size = size, .stream = stream});
  }

  Allocator allocator_;
  bool expandable_;
  std::vector<SnapshotEvent>& events_;
  Snapshot& out_;
  bool fits_ = true;
  std::int64_t stream_ = 0;
  std::vector<Live> live_{};
  std::vector<HeldSegment> segments_{};  ///< When they last changed.
};

SnapshotSettings settings_of(const AllocatorSettings& from) {
  SnapshotSettings out{.expandable_segments = from.expandable_segments,
                       .max_split = from.max_split ? from.max_split->count() : 0,
                       .garbage_collection_threshold = from.garbage_collection_threshold};
  for (std::size_t i = 0; i < out.roundup_divisions.size(); ++i) out.roundup_divisions[i] = from.roundup_divisions[i];
  return out;
}

}  // namespace

Result<Snapshot> traced(const Timeline& timeline, const std::vector<std::string>& modules,
                        const AllocatorSettings& settings, Bytes workspace) {
  Unrolled run = unroll(timeline);
  const std::uint32_t first_workspace = add_workspaces({workspace, run.handles}, run.events);
  Snapshot out;
  Stacks stacks(timeline, modules, out);
  Trace trace(settings, out);
  const std::uint32_t cublas = stacks.named("cuBLAS workspace");
  for (const oomplan::Event& event : run.events) {
    const auto stack = [&] { return event.slot >= first_workspace ? cublas : stacks.next(); };
    if (event.kind == oomplan::Event::Kind::stream) trace.on_stream(event);
    if (event.kind == oomplan::Event::Kind::allocate) trace.allocate(event.slot, event.value, stack());
    if (event.kind == oomplan::Event::Kind::free) trace.free(event.slot);
    if (event.kind == oomplan::Event::Kind::empty_cache) trace.empty_cache();
  }
  if (!trace.fits()) return too_large();
  trace.end();
  out.settings = settings_of(settings);
  return out;
}

}  // namespace oomplan::estimator
