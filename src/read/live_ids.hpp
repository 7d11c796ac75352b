// Which ids are allocated, and the small number that stands for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace oomplan::read {

/// An open-addressed table, since a list asks it once an event.
class LiveIds {
 public:
  LiveIds() : table_(least) {}

  std::uint32_t size() const { return count_; }
  /// A slot for `id`; nothing where it has one.
  std::optional<std::uint32_t> add(std::int64_t id);
  /// The slot that `id` had; nothing where it had none.
  std::optional<std::uint32_t> remove(std::int64_t id);

 private:
  static constexpr std::uint32_t unused = 0xFFFFFFFFU;
  static constexpr std::size_t least = 1024;
  struct Row {
    std::int64_t id = 0;
    std::uint32_t slot = unused;
  };

  std::size_t home(std::int64_t id) const;
  std::size_t find(std::int64_t id) const;
  void grow();

  std::vector<Row> table_;  // a power of two, at most half full
  std::vector<std::uint32_t> free_slots_{};
  std::uint32_t count_ = 0;
};

}  // namespace oomplan::read
