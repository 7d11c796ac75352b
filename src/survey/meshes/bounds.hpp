// What bounds of meshes are made of.
#pragma once

#include <cstdint>

#include "oomplan/core/bytes.hpp"

namespace oomplan::survey {

inline constexpr std::int64_t least_element = 2;  ///< Bytes of a gathered weight, of a gradient, of what is handed on.

inline Bytes times(Bytes bytes, std::int64_t count) { return Bytes(saturating_mul(bytes.count(), count)); }
inline Bytes part(Bytes bytes, std::int64_t of) { return Bytes(bytes.count() / of); }

}  // namespace oomplan::survey
