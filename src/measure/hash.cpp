#include "hash.hpp"

#include <xxhash.h>

#include <algorithm>

namespace oomplan::measure {

Hash hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {std::max<std::uint64_t>(hash.high64, 1), hash.low64};
}

}  // namespace oomplan::measure
