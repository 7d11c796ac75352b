// PyTorch's CUDACachingAllocator, played: what it reserves for what is allocated, and where it runs out.
// Source: the behaviour of c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.cpp in torch 2.11, one
// stream, no private pools, 2 MiB physical pages. docs/allocator.md has the rules.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/events.hpp"

namespace oomplan {

/// PYTORCH_ALLOC_CONF, as far as it decides where memory goes. The defaults are torch 2.11's.
struct AllocatorSettings {
  bool expandable_segments = false;
  Bytes large_segment = Bytes::mib(20);  ///< large_segment_size_mb; the expandable page too.
  std::optional<Bytes> max_split{};      ///< max_split_size_mb; nothing: every block may be split.
  Bytes max_non_split_rounding =
      Bytes::mib(20);                         ///< max_non_split_rounding_mb; large_segment where only that is given.
  double garbage_collection_threshold = 0.0;  ///< 0: none. Of the allowed memory, so only with a fraction.
  std::array<std::int64_t, 16>
      roundup_divisions{};       ///< By power of two from 1 MiB (and below) up; 0: multiples of 512.
  double memory_fraction = 1.0;  ///< per_process_memory_fraction; 1: no limit.

  friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;
};

/// Reads the text of PYTORCH_ALLOC_CONF (or PYTORCH_CUDA_ALLOC_CONF); "" is the defaults. `name` stands in messages for
/// the place it came from; columns count in `text`. Settings without effect on device memory are accepted. Errors:
/// estimate/unknown-alloc-key   a key that torch does not know, with the nearest that it does
/// estimate/bad-alloc-conf      a malformed text, or a value that torch would refuse
/// estimate/unmodelled          backend:cudaMallocAsync: memory is then the driver's business
Result<AllocatorSettings> parse_alloc_conf(std::string_view text, const std::string& name);

/// Where the driver puts a new segment: below all others, as it mostly does, or above them.
enum class SegmentOrder : std::uint8_t { descending, ascending };

/// The card that the allocator runs on.
struct Card {
  Bytes total = unlimited;  ///< As CUDA reports it; at most `unlimited` is looked at.
  Bytes context{};          ///< Used on it by what is not the allocator.
  std::optional<double>
      fraction{};  ///< set_per_process_memory_fraction before the first event; over the settings' own.
  SegmentOrder order = SegmentOrder::descending;
  std::optional<Bytes> addresses{};  ///< Ranges of expandable segments are an eighth longer; nothing: than `total`.

  static constexpr Bytes unlimited{std::int64_t{1} << 46};
  friend bool operator==(const Card&, const Card&) = default;
};

/// A segment that is there before the first event: stretches one behind the other, allocated under a slot or free.
struct HeldSegment {
  static constexpr std::uint32_t free = 0xFFFFFFFFU;
  struct Piece {
    std::int64_t size = 0;  ///< Bytes, at least 512.
    std::uint32_t slot = free;
  };
  std::uint64_t address = 0;
  std::int64_t size = 0;    ///< Of all pieces.
  bool small = false;       ///< Of the pool of up to 1 MiB.
  bool expandable = false;  ///< Memory mapped into a range of addresses, which goes on beyond it.
  std::int64_t stream = 0;
  std::vector<Piece> pieces{};
};

/// An allocation that failed, and the allocator then: after all that it could give back was given back.
struct OutOfMemory {
  Bytes asked{};  ///< By the event.
  Bytes allocated{};
  Bytes reserved{};
  std::string message{};  ///< PyTorch's own text.

  friend bool operator==(const OutOfMemory&, const OutOfMemory&) = default;
};

/// Now, and the highest since the beginning. Names as in torch.cuda.memory_stats() where it has the figure.
struct AllocatorStatistics {
  Bytes allocated{};
  Bytes peak_allocated{};
  Bytes reserved{};
  Bytes peak_reserved{};
  Bytes fragmented{};  ///< Free, but no release could return it: the rest of its segment or page is in use.
  Bytes peak_fragmented{};
  std::int64_t segments = 0;  ///< Address ranges; an expandable segment is one.
  std::int64_t peak_segments = 0;
  std::int64_t device_allocs = 0;  ///< cudaMalloc, or mappings of expandable segments.
  std::int64_t device_frees = 0;   ///< cudaFree, or unmappings.
  std::int64_t retries = 0;        ///< num_alloc_retries: releases of everything free because a request failed.

  friend bool operator==(const AllocatorStatistics&, const AllocatorStatistics&) = default;
};

/// The allocator's state on one card. A value: a copy goes on from where it was taken. Plays some ten million events a
/// second, and the same events always the same way.
class Allocator {
 public:
  explicit Allocator(const AllocatorSettings& settings = {}, const Card& card = {});
  Allocator(const Allocator& other);
  Allocator(Allocator&&) noexcept;
  Allocator& operator=(const Allocator& other);
  Allocator& operator=(Allocator&&) noexcept;
  ~Allocator();

  /// Takes `bytes` (>= 0; 0 takes nothing) under the number `slot`, which must not be in use. Small numbers: an array
  /// is as long as the largest. False where the card has no more; out_of_memory() then says all.
  bool allocate(std::uint32_t slot, Bytes bytes);
  /// Gives back what `slot` holds; a slot that holds nothing is left alone.
  void free(std::uint32_t slot);
  void empty_cache();
  /// One event; false as allocate().
  bool play(const Event& event);

  /// Begins with these segments, in the order of their addresses, which do not overlap; before the first event. False,
  /// with nothing taken over, where the card is smaller or the settings have the other kind of segments.
  bool hold(const std::vector<HeldSegment>& segments);
  /// Compares itself with a larger card of as many addresses, from the beginning on; again only on what on_larger()
  /// gave. As long as it is_watching(), a run on that card is this run. Without effect under a memory fraction.
  void watch(Bytes total);
  bool is_watching() const;
  /// From before the first request for which that card has memory and its own has not: a copy that goes on as that
  /// card, with that event.
  std::optional<Allocator> on_larger() const;
  /// Where the next new segment lies, if the next allocation makes one.
  void place_next(std::uint64_t address);
  /// Gives back the one segment of this place and size; false where there is none that is wholly free.
  bool release(std::uint64_t address, std::int64_t size);
  /// What the card has free from now on, whatever it had; Card::unlimited for as much as it takes.
  void leave_free(Bytes free);
  /// What hold() would be given to begin here, by address.
  std::vector<HeldSegment> held() const;
  /// Where the allocation under `slot` lies; 0 where it holds nothing.
  std::uint64_t address(std::uint32_t slot) const;

  const AllocatorStatistics& statistics() const;
  /// The latest allocation that failed.
  const std::optional<OutOfMemory>& out_of_memory() const;

  /// As newly made, on another card; keeps what memory it has, so that a thousand cards cost a thousand replays.
  void reset(const Card& card);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace oomplan
