// The 128-bit hash by which rows are told apart.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace oomplan::measure {

struct Hash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash&, const Hash&) = default;
};

/// XXH3's 128 bits; `high` is never 0, which stands for an empty place in a table.
Hash hash_of(std::string_view bytes);

}  // namespace oomplan::measure
