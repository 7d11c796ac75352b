// A snapshot as a pickle of protocol 2, in the opcodes that torch/csrc/cuda/memory_snapshot.cpp writes.
#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <string_view>

#include "snapshot_names.hpp"

namespace oomplan {
namespace {

class Pickler {
 public:
  Pickler() { out_ = "\x80\x02"; }

  std::string done() && { return std::move(out_) + '.'; }

  void integer(std::int64_t value) {
    if (value == static_cast<std::int32_t>(value)) {
      out_ += 'J';
      bytes(static_cast<std::uint64_t>(value), 4);
    } else {
      out_ += "\x8a\x08";
      bytes(static_cast<std::uint64_t>(value), 8);
    }
  }
  void real(double value) {
    out_ += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 7; i >= 0; --i) out_ += static_cast<char>(bits >> (8 * i));
  }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  /// Written once, and named from then on.
  void text(std::string_view value) {
    if (const auto found = texts_.find(value); found != texts_.end()) return again(found->second);
    out_ += 'X';
    bytes(value.size(), 4);
    out_ += value;
    texts_.emplace(value, keep());
  }
  /// A thousand at a time, as memory_viz hands all of them to one call.
  template <class Items, class Write>
  void list(const Items& items, const Write& one) {
    constexpr std::size_t together = 1000;
    out_ += ']';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i % together == 0) out_ += '(';
      one(items[i]);
      if ((i + 1) % together == 0 || i + 1 == items.size()) out_ += 'e';
    }
  }
  template <class Write>
  void dict(const Write& entries) {
    out_ += "}(";
    entries();
    out_ += 'u';
  }
  void pair(std::int64_t first, std::int64_t second) {
    integer(first);
    integer(second);
    out_ += '\x86';
  }

  /// Remembers the value just written; again() writes that very one.
  std::uint32_t keep() {
    out_ += 'r';
    bytes(kept_, 4);
    return kept_++;
  }
  void again(std::uint32_t kept) {
    out_ += 'j';
    bytes(kept, 4);
  }

 private:
  void bytes(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out_ += static_cast<char>(value >> (8 * i));
  }

  std::string out_;
  std::map<std::string, std::uint32_t, std::less<>> texts_{};
  std::uint32_t kept_ = 0;
};

class Writer {
 public:
  explicit Writer(const Snapshot& snapshot)
      : snapshot_(snapshot), frames_(snapshot.frames.size()), stacks_(snapshot.stacks.size()) {}

  std::string all() && {
    to_.dict([&] {
      to_.text("segments");
      to_.list(snapshot_.segments, [&](const SnapshotSegment& segment) { add(segment); });
      to_.text("device_traces");
      to_.list(snapshot_.traces, [&](const std::vector<SnapshotEvent>& trace) {
        std::int64_t time = 0;
        to_.list(trace, [&](const SnapshotEvent& event) { add(event, time++); });
      });
      to_.text("allocator_settings");
      add(snapshot_.settings);
      to_.text("external_annotations");
      to_.list(std::vector<int>{}, [](int) {});
    });
    return std::move(to_).done();
  }

 private:
  void field(std::string_view key, std::int64_t value) {
    to_.text(key);
    to_.integer(value);
  }
  void field(std::string_view key, std::string_view value) {
    to_.text(key);
    to_.text(value);
  }
  void flag(std::string_view key, bool value) {
    to_.text(key);
    to_.boolean(value);
  }

  void add(const SnapshotSegment& segment) {
    std::int64_t active = 0;
    for (const SnapshotBlock& block : segment.blocks) {
      active += block.state == SnapshotBlock::State::inactive ? 0 : block.size;
    }
    to_.dict([&] {
      field("device", segment.device);
      field("address", segment.address);
      field("total_size", segment.size);
      field("allocated_size", active);
      field("active_size", active);
      field("requested_size", active);
      field("stream", segment.stream);
      field("segment_type", segment.small ? "small" : "large");
      to_.text("segment_pool_id");
      to_.pair(0, segment.private_pool ? 1 : 0);
      flag("is_expandable", segment.expandable);
      to_.text("frames");
      add_stack(0);
      to_.text("blocks");
      to_.list(segment.blocks, [&](const SnapshotBlock& block) { add(block); });
    });
  }

  void add(const SnapshotBlock& block) {
    to_.dict([&] {
      field("address", block.address);
      field("size", block.size);
      field("requested_size", block.asked > 0 ? block.asked : block.size);
      field("state", read::state_names[static_cast<std::size_t>(block.state)]);
      to_.text("frames");
      add_stack(block.stack);
    });
  }

  static std::string_view name_of(SnapshotEvent::Action action) {
    const auto* found =
        std::ranges::find(read::action_names, action, &std::pair<read::Action, std::string_view>::first);
    return found == read::action_names.end() ? "snapshot" : found->second;
  }

  void add(const SnapshotEvent& event, std::int64_t time) {
    const bool oom = event.action == SnapshotEvent::Action::out_of_memory;
    to_.dict([&] {
      field("action", name_of(event.action));
      field(oom ? "device_free" : "addr", event.address);
      field("size", event.size);
      field("stream", event.stream);
      field("time_us", time);
      to_.text("frames");
      add_stack(event.stack);
    });
  }

  void add_stack(std::uint32_t stack) {
    if (stacks_[stack]) return to_.again(*stacks_[stack]);
    to_.list(snapshot_.stacks[stack], [&](std::uint32_t frame) { add_frame(frame); });
    stacks_[stack] = to_.keep();
  }

  void add_frame(std::uint32_t frame) {
    if (frames_[frame]) return to_.again(*frames_[frame]);
    const SnapshotFrame& f = snapshot_.frames[frame];
    to_.dict([&] {
      field("filename", f.file);
      field("line", f.line);
      field("name", f.function);
    });
    frames_[frame] = to_.keep();
  }

  void add(const SnapshotSettings& settings) {
    to_.dict([&] {
      field("PYTORCH_CUDA_ALLOC_CONF", settings.alloc_conf);
      flag("expandable_segments", settings.expandable_segments);
      field("max_split_size", settings.max_split > 0 ? settings.max_split : -1);
      to_.text("garbage_collection_threshold");
      to_.real(settings.garbage_collection_threshold);
      to_.text("roundup_power2_divisions");
      to_.dict([&] {
        for (std::size_t i = 0; i < settings.roundup_divisions.size(); ++i) {
          field(std::to_string(std::size_t{1} << i), settings.roundup_divisions[i]);
        }
      });
    });
  }

  const Snapshot& snapshot_;
  Pickler to_{};
  std::vector<std::optional<std::uint32_t>> frames_;  ///< What of the pickle each was kept as.
  std::vector<std::optional<std::uint32_t>> stacks_;
};

}  // namespace

std::string write_snapshot(const Snapshot& snapshot) { return Writer(snapshot).all(); }

}  // namespace oomplan
