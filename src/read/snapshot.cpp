#include "oomplan/read/snapshot.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "oomplan/core/bytes.hpp"
#include "pickle.hpp"
#include "snapshot_names.hpp"

namespace oomplan {
namespace {

using read::PickleTree;
using Value = read::PickleValue;
using Kind = Value::Kind;

class LogBytes final : public read::ByteSource {
 public:
  explicit LogBytes(LogText& file) : file_(file) {}
  Result<std::size_t> read(char* out, std::size_t most) override { return file_.read_bytes(out, most); }

 private:
  LogText& file_;
};

/// A small pickle can name one list a million times. What a real snapshot of half a gigabyte has is far below these.
struct Caps {
  std::size_t visits = std::size_t{1} << 27;
  std::size_t segments = std::size_t{1} << 20;
  std::size_t blocks = std::size_t{1} << 24;
  std::size_t events = std::size_t{1} << 25;
  std::size_t devices = 1024;
  std::size_t frames = std::size_t{1} << 20;
  std::size_t stacked = std::size_t{1} << 26;  // frames in all stacks

  /// False, from then on for all, once `count` more are too many.
  bool take(std::size_t& left, std::size_t count = 1) {
    const bool enough = !over && count <= left;
    if (enough) left -= count;
    over = !enough;
    return enough;
  }
  bool over = false;
};

/// Takes the values of a snapshot out of a pickle's tree.
class Reader {
 public:
  Reader(const PickleTree& tree, Snapshot& out) : tree_(tree), out_(out) { out_.stacks.emplace_back(); }

  /// False where it is none. Before 2.0 a snapshot was the list of its segments.
  bool run() {
    const Value root = tree_.root();
    const Value segments = root.kind() == Kind::list ? root : at(root, "segments");
    if (segments.kind() != Kind::list) return false;
    tree_.each(segments, [&](Value segment) { add_segment(segment); });
    tree_.each(at(root, "device_traces"), [&](Value trace) { add_trace(trace); });
    add_settings(at(root, "allocator_settings"));
    return root.kind() == Kind::dict || !out_.segments.empty();
  }
  bool is_too_large() const { return caps_.over; }

 private:
  Value at(Value dict, std::string_view key) const { return tree_.find(dict, tree_.key(key)); }
  std::int64_t integer(Value dict, std::string_view key) const { return tree_.integer(at(dict, key)); }
  static std::int64_t size_of(std::int64_t read) { return std::max<std::int64_t>(0, read); }

  void add_settings(Value from) {
    SnapshotSettings& to = out_.settings;
    to.alloc_conf = tree_.text(at(from, "PYTORCH_CUDA_ALLOC_CONF"));
    to.expandable_segments = integer(from, "expandable_segments") != 0;
    to.max_split = size_of(integer(from, "max_split_size"));
    if (to.max_split == std::numeric_limits<std::int64_t>::max()) to.max_split = 0;
    to.garbage_collection_threshold = tree_.real(at(from, "garbage_collection_threshold"));
    const Value divisions = at(from, "roundup_power2_divisions");
    for (std::size_t i = 0; i < to.roundup_divisions.size(); ++i)
      to.roundup_divisions[i] = size_of(integer(divisions, std::to_string(std::size_t{1} << i)));
  }

  void add_segment(Value segment) {
    if (segment.kind() != Kind::dict || at(segment, "total_size").kind() == Kind::none) return;
    if (!caps_.take(caps_.segments)) return;
    SnapshotSegment read{.device = integer(segment, "device"),
                         .size = size_of(integer(segment, "total_size")),
                         .expandable = integer(segment, "is_expandable") != 0,
                         .address = integer(segment, "address"),
                         .stream = integer(segment, "stream"),
                         .small = tree_.text(at(segment, "segment_type")) == "small",
                         .private_pool = is_private(at(segment, "segment_pool_id"))};
    std::int64_t address = read.address;
    tree_.each(at(segment, "blocks"), [&](Value block) {
      if (block.kind() != Kind::dict || !caps_.take(caps_.blocks)) return;
      read.blocks.push_back(block_of(block, address));
      address = saturating_add(address, read.blocks.back().size);
    });
    out_.segments.push_back(std::move(read));
  }

  /// (0, 0) is the pool of all.
  bool is_private(Value id) {
    bool out = false;
    tree_.each(id, [&](Value part) { out = out || (caps_.take(caps_.visits) && tree_.integer(part) != 0); });
    return out;
  }

  SnapshotBlock block_of(Value block, std::int64_t address) {
    const std::string_view state = tree_.text(at(block, "state"));
    return {.state = state == read::state_names[0]   ? SnapshotBlock::State::inactive
                     : state == read::state_names[1] ? SnapshotBlock::State::active
                                                     : SnapshotBlock::State::pending,
            .stack = stack_of(frames_of(block)),
            .address = address,
            .size = size_of(integer(block, "size")),
            .asked = size_of(integer(block, "requested_size"))};
  }

  /// Until 2.1 a block's frames stood in its history, the latest use first.
  Value frames_of(Value block) {
    const Value frames = at(block, "frames");
    if (frames.kind() != Kind::none) return frames;
    Value latest;
    tree_.each(at(block, "history"), [&](Value use) {
      if (caps_.take(caps_.visits) && latest.kind() == Kind::none) latest = use;
    });
    return at(latest, "frames");
  }

  std::uint32_t stack_of(Value frames) {
    std::uint32_t runs = 0;
    std::uint32_t id = 0;
    tree_.each_run(frames, [&](const PickleTree::Run& run) {
      if (!caps_.take(caps_.visits)) return;
      id = run.id;
      ++runs;
    });
    if (runs == 0) return 0;
    if (runs > 1) return new_stack(frames);  // over a thousand frames deep
    const auto [known, fresh] = stack_by_run_.try_emplace(id, 0);
    if (fresh) known->second = new_stack(frames);
    return known->second;
  }

  std::uint32_t new_stack(Value frames) {
    SnapshotStack stack;
    tree_.each(frames, [&](Value frame) {
      if (!caps_.take(caps_.visits) || frame.kind() != Kind::dict || stack.size() >= deepest) return;
      stack.push_back(frame_of(frame));
    });
    if (stack.empty() || !caps_.take(caps_.stacked, stack.size() + 8)) return 0;
    const auto [known, fresh] = stack_by_frames_.try_emplace(stack, static_cast<std::uint32_t>(out_.stacks.size()));
    if (fresh) out_.stacks.push_back(std::move(stack));
    return known->second;
  }

  std::uint32_t frame_of(Value frame) {
    const auto [known, fresh] = frame_by_value_.try_emplace(frame.bits(), 0);
    if (fresh) known->second = new_frame(at(frame, "filename"), integer(frame, "line"), at(frame, "name"));
    return known->second;
  }

  /// Frames that are equal and yet not one object are kept once as well.
  std::uint32_t new_frame(Value file, std::int64_t line, Value function) {
    const auto next = static_cast<std::uint32_t>(out_.frames.size());
    const auto [known, fresh] = frame_by_content_.try_emplace({file.bits(), function.bits(), line}, next);
    if (fresh) {
      caps_.take(caps_.frames);
      out_.frames.push_back({std::string(tree_.text(file).substr(0, longest_name)), line,
                             std::string(tree_.text(function).substr(0, longest_name))});
    }
    return known->second;
  }

  void add_trace(Value trace) {
    if (!caps_.take(caps_.devices)) return;
    std::vector<SnapshotEvent>& events = out_.traces.emplace_back();
    PickleTree::Column action{tree_.key("action")};
    PickleTree::Column address{tree_.key("addr")};
    PickleTree::Column size{tree_.key("size")};
    PickleTree::Column frames{tree_.key("frames")};
    PickleTree::Column free{tree_.key("device_free")};
    PickleTree::Column stream{tree_.key("stream")};
    std::size_t count = 0;
    tree_.each_run(trace, [&](const PickleTree::Run& run) { count += run.items.size(); });
    if (!caps_.take(caps_.events, count)) return;
    events.reserve(count);
    tree_.each(trace, [&](Value entry) {
      if (entry.kind() != Kind::dict) return;
      SnapshotEvent& event = events.emplace_back();
      event.action = action_of(tree_.find(entry, action));
      event.size = size_of(tree_.integer(tree_.find(entry, size)));
      const bool oom = event.action == SnapshotEvent::Action::out_of_memory;
      event.address = tree_.integer(tree_.find(entry, oom ? free : address));
      event.stack = stack_of(tree_.find(entry, frames));
      event.stream = tree_.integer(tree_.find(entry, stream));
    });
  }

  SnapshotEvent::Action action_of(Value text) const {
    const auto* found =
        std::ranges::find(read::action_names, tree_.text(text), &std::pair<read::Action, std::string_view>::second);
    return found == read::action_names.end() ? read::Action::other : found->first;
  }

  static constexpr std::size_t deepest = 1024;
  static constexpr std::size_t longest_name = 1024;

  const PickleTree& tree_;
  Snapshot& out_;
  Caps caps_{};
  std::unordered_map<std::uint32_t, std::uint32_t> stack_by_run_{};
  std::map<SnapshotStack, std::uint32_t> stack_by_frames_{};
  std::unordered_map<std::uint32_t, std::uint32_t> frame_by_value_{};
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> frame_by_content_{};
};

}  // namespace

Result<Snapshot> read_snapshot(LogText& file, const std::string& name) {
  LogBytes bytes(file);
  const Result<PickleTree> tree = read::read_pickle(bytes, name);
  if (!tree) return tree.errors();
  Snapshot out{.file = name};
  Reader reader(*tree, out);
  const bool is_snapshot = reader.run();
  if (reader.is_too_large()) {
    return Diagnostic{.code = "read/too-large", .message = "this holds more than any memory snapshot", .where = {name}};
  }
  if (is_snapshot) return out;
  return Diagnostic{.code = "read/not-a-snapshot",
                    .message = "this pickle is no memory snapshot: it has no list of segments",
                    .where = {name},
                    .hint = "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes one"};
}

}  // namespace oomplan
