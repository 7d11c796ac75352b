#include <cstdint>
#include <optional>

#include "../cause.hpp"

namespace oomplan::diagnose {

namespace {

// What was free where the library could not begin, as XLA and TensorFlow print it below.
struct Room {
  std::int64_t free = 0;
  std::int64_t total = 0;
  bool is_full() const { return free * 50 < total; }  // 2 %: less than the handles of a card's libraries take
};

std::optional<Room> room_of(const Case& c) {
  for (const Evidence& e : *c.evidence)
    if (e.family == "xla_usage")
      return Room{e.number("library_free").value_or(0), e.number("library_total").value_or(0)};
  return std::nullopt;
}

// FlashInfer takes its buffers from one that the server made for it.
bool is_of_fixed_workspace(const Evidence& root) { return root.family == "flashinfer"; }

}  // namespace

Judgement causes::gpu_library_alloc(const Case& c) {
  if (c.root == nullptr || c.root->says != Says::gpu_library_failed || c.survived) return {};
  if (!may_be_of_memory(*c.root)) return {};
  Judgement out{.cause = Cause::gpu_library_alloc, .weight = 60, .confidence = Confidence::likely};
  out.reason = "a library that allocates beside PyTorch's allocator found no memory on the GPU";
  const std::string status = c.root->text_of("status");
  const bool vague = is_vague(*c.root);
  const bool other_resources = status == "OUT_OF_RESOURCES";  // threads, queues and events too
  const std::optional<Room> room = room_of(c);
  if (room) out.arithmetic.push_back("free " + shown(room->free) + " of " + shown(room->total));
  if (vague && room && room->is_full()) {
    out.weight = 62;
    out.reason = "a library found no memory on the GPU, which was full";
  } else if (vague) {
    out.confidence = Confidence::possible;
    out.against.push_back("the same state comes from a driver and a library that do not fit together");
  }
  if (other_resources) {
    out.confidence = Confidence::possible;
    out.against.push_back("the same state is reported of threads, queues and events that could not be made");
  }
  const auto asked = c.number("requested");
  if (is_of_fixed_workspace(*c.root)) {
    out.reason = "a workspace whose size is set at the start was too small; the card need not be full";
    if (asked) out.arithmetic.push_back("asked " + shown(*asked) + " of the workspace");
  } else if (asked) {
    out.arithmetic.push_back("asked " + shown(*asked) + ", so the card was full");
  }
  return out;
}

}  // namespace oomplan::diagnose
