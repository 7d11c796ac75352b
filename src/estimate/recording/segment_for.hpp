// What a request takes of the driver.
#pragma once

#include <cstdint>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::recording {

/// The segment that is made for `size` bytes where none is free.
std::int64_t segment_for(std::int64_t size, const AllocatorSettings& settings);

}  // namespace oomplan::recording
