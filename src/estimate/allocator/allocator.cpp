#include "oomplan/estimate/allocator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "state.hpp"

namespace oomplan {

using allocator::Index;
using allocator::none;

struct Allocator::State {
  allocator::Machine machine{};
  std::vector<Index> live{};  // by slot, the first of its blocks
  std::int64_t left = 1;      // of what the event at hand allocates
  std::uint8_t stream = 0;    // that it allocates on
  std::optional<OutOfMemory> out_of_memory{};
  std::shared_ptr<const State> larger{};  // from before the event that parted it from the watched card

  bool allocate(std::uint32_t slot, Bytes bytes) {
    if (slot >= live.size()) [[unlikely]]
      make_room_for(slot);
    if (bytes.count() <= 0) return end(true);
    if (bytes.count() >= allocator::refused_from) return fail(bytes);
    do {
      allocator::Machine& m = machine;
      std::int64_t rest = left;
      const Index block = allocator::request(m, bytes.count(), stream, rest);
      if (m.larger) [[unlikely]]
        keep_larger();
      note_peak();
      if (block == none) return fail(bytes);
      m.blocks[block].higher = std::exchange(live[slot], block);
      left = rest;
    } while (left > 0);
    return end(true);
  }
  void free(std::uint32_t slot) {
    if (slot >= live.size()) return;
    for (Index block = std::exchange(live[slot], none); block != none;) {
      const Index next = machine.blocks[block].higher;
      allocator::give_back(machine, block);
      note_peak();
      block = next;
    }
  }
  bool end(bool fits) {
    left = 1;
    stream = 0;
    return fits;
  }
  [[gnu::cold]] void keep_larger() {
    larger = std::make_shared<State>(State{.machine = *machine.larger, .live = live, .left = left, .stream = stream});
    machine.larger.reset();
  }
  [[gnu::cold]] bool fail(Bytes asked) {
    const AllocatorStatistics& s = machine.statistics;
    out_of_memory = {asked, s.allocated, s.reserved, allocator::out_of_memory_message(machine, asked.count())};
    return end(false);
  }
  void note_peak() {
    AllocatorStatistics& s = machine.statistics;
    s.peak_fragmented = std::max(s.peak_fragmented, s.fragmented);
  }
  [[gnu::cold]] void make_room_for(std::uint32_t slot) {
    live.resize(std::max<std::size_t>(slot + std::size_t{1}, 2 * live.size()), none);
  }
};

namespace {

std::optional<std::int64_t> allowed(const AllocatorSettings& settings, const Card& card, std::int64_t total) {
  const double fraction = card.fraction.value_or(settings.memory_fraction);
  if (!(fraction < 1.0)) return std::nullopt;
  return static_cast<std::int64_t>(std::max(fraction, 0.0) * static_cast<double>(total));
}

void start(allocator::Machine& m, const Card& card) {
  m.device = {};
  m.device.total = std::clamp(card.total.count(), std::int64_t{0}, allocator::largest_total);
  m.device.context = std::clamp(card.context.count(), std::int64_t{0}, m.device.total);
  m.device.addresses =
      std::clamp(card.addresses.value_or(card.total).count(), std::int64_t{0}, allocator::largest_total);
  m.device.order = card.order;
  m.watched = 0;
  m.parts_from = std::numeric_limits<std::int64_t>::max();
  m.kept.reset();
  m.larger.reset();
  m.allowed = allowed(m.settings, card, m.device.total);
}

}  // namespace

Allocator::Allocator(const AllocatorSettings& settings, const Card& card) : state_(std::make_unique<State>()) {
  state_->machine.settings = settings;
  start(state_->machine, card);
}

Allocator::Allocator(const Allocator& other) : state_(std::make_unique<State>(*other.state_)) {}
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator& Allocator::operator=(const Allocator& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
Allocator& Allocator::operator=(Allocator&&) noexcept = default;
Allocator::~Allocator() = default;

bool Allocator::allocate(std::uint32_t slot, Bytes bytes) { return state_->allocate(slot, bytes); }

void Allocator::free(std::uint32_t slot) { state_->free(slot); }

void Allocator::empty_cache() { allocator::release_all(state_->machine); }

bool Allocator::play(const Event& event) {
  switch (event.kind) {
    case Event::Kind::allocate:
      return state_->allocate(event.slot, Bytes(event.value));
    case Event::Kind::free:
      state_->free(event.slot);
      break;
    case Event::Kind::empty_cache:
      empty_cache();
      break;
    case Event::Kind::times:
      state_->left = event.value;
      break;
    case Event::Kind::stream:
      state_->stream = static_cast<std::uint8_t>(event.value);
      state_->machine.make_pools(state_->stream);
      break;
    case Event::Kind::mark:
      break;
  }
  return true;
}

bool Allocator::hold(const std::vector<HeldSegment>& segments) {
  return allocator::hold(state_->machine, segments, state_->live);
}

std::vector<HeldSegment> Allocator::held() const { return allocator::held(state_->machine, state_->live); }

void Allocator::watch(Bytes total) {
  allocator::Machine& m = state_->machine;
  const bool parted = m.allowed || total.count() >= m.parts_from;
  m.watched = parted ? 0 : std::clamp(total.count(), m.device.total, allocator::largest_total);
}

bool Allocator::is_watching() const { return state_->machine.watched > 0; }

std::optional<Allocator> Allocator::on_larger() const {
  if (!state_->larger) return std::nullopt;
  Allocator out;
  *out.state_ = *state_->larger;
  return out;
}

void Allocator::place_next(std::uint64_t address) { state_->machine.device.placed = address; }

bool Allocator::release(std::uint64_t address, std::int64_t size) {
  return allocator::release_one(state_->machine, address, size);
}

void Allocator::leave_free(Bytes free) {
  allocator::Device& device = state_->machine.device;
  const std::int64_t room = allocator::largest_total - device.used - device.context;
  device.total = device.used + device.context + std::clamp(free.count(), std::int64_t{0}, room);
}

std::uint64_t Allocator::address(std::uint32_t slot) const {
  const std::vector<Index>& live = state_->live;
  return slot < live.size() && live[slot] != none ? state_->machine.blocks[live[slot]].address : 0;
}

const AllocatorStatistics& Allocator::statistics() const { return state_->machine.statistics; }
const std::optional<OutOfMemory>& Allocator::out_of_memory() const { return state_->out_of_memory; }

void Allocator::reset(const Card& card) {
  allocator::Machine& m = state_->machine;
  m.blocks.clear();
  for (allocator::Pool& pool : m.pools) {
    pool.free.clear();
    pool.unmapped.clear();
  }
  m.searches = 0;
  m.statistics = {};
  start(m, card);
  std::fill(state_->live.begin(), state_->live.end(), none);
  state_->left = 1;
  state_->stream = 0;
  state_->out_of_memory.reset();
  state_->larger.reset();
}

}  // namespace oomplan
