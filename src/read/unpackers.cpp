#include "oomplan/read/unpackers.hpp"

#include <array>

namespace oomplan {
namespace {

#ifdef OOMPLAN_BZIP2
constexpr bool has_bzip2 = true;
#else
constexpr bool has_bzip2 = false;
#endif
#ifdef OOMPLAN_XZ
constexpr bool has_xz = true;
#else
constexpr bool has_xz = false;
#endif

constexpr std::array<Unpacker, 4> all{{{"gzip", true}, {"zstd", true}, {"bzip2", has_bzip2}, {"xz", has_xz}}};

}  // namespace

std::span<const Unpacker> unpackers() { return all; }

}  // namespace oomplan
