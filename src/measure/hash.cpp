#include "hash.hpp"

#define XXH_INLINE_ALL  // a call for each short row costs as much as its hash
#include <xxhash.h>

#include <algorithm>

namespace oomplan::measure {

Hash hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {std::max<std::uint64_t>(hash.high64, 1), hash.low64};
}

}  // namespace oomplan::measure
