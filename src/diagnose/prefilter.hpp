// Finds where any of hundreds of literals may stand, at memory speed: one look a stride at four bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

/// A literal of at least stride + 3 bytes has, wherever it stands, four of its bytes at a multiple of the stride. So
/// only those places are looked at, through a table of bits that fits in the first cache; what passes is compared in
/// full.
class Prefilter {
 public:
  static constexpr std::size_t gram = 4;

  explicit Prefilter(std::size_t stride) : stride_(stride) {}

  /// `literal` (at least stride + 3 bytes) will be reported as `id`.
  void add(std::string_view literal, std::uint32_t id);
  void finish();

  struct Hit {
    std::size_t at = 0;
    std::uint32_t id = 0;
  };
  /// The first hits at or after `from`: those of the first place where there is one, into `hits` (emptied first).
  /// Returns where to go on, text.size() at the end.
  std::size_t find(std::string_view text, std::size_t from, std::vector<Hit>& hits) const;

 private:
  struct Entry {
    std::uint32_t key = 0;
    std::uint32_t literal = 0;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    char last = 0;  // of the literal: what passes the key by chance seldom ends like it
  };
  struct Literal {
    std::string text{};
    std::uint32_t id = 0;
  };
  static constexpr std::size_t slots = std::size_t{1} << 16;
  static std::uint32_t slot(std::uint32_t key) { return (key * 2654435761U) >> 16; }
  void check(std::string_view text, std::size_t at, std::uint32_t key, std::vector<Hit>& hits) const;

  std::size_t stride_;
  std::array<std::uint64_t, slots / 64> bits_{};
  std::vector<Entry> entries_{};         // by slot
  std::vector<std::uint32_t> begins_{};  // of each slot among the entries, and their end
  std::vector<Literal> literals_{};
};

}  // namespace oomplan::diagnose
