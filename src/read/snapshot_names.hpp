// The words of a snapshot, for what reads one and for what writes one.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "oomplan/read/snapshot.hpp"

namespace oomplan::read {

using Action = SnapshotEvent::Action;

/// What is none of these is Action::other.
inline constexpr std::array<std::pair<Action, std::string_view>, 8> action_names{
    {{Action::allocate, "alloc"},
     {Action::free, "free_completed"},
     {Action::free_requested, "free_requested"},
     {Action::out_of_memory, "oom"},
     {Action::segment_alloc, "segment_alloc"},
     {Action::segment_free, "segment_free"},
     {Action::segment_map, "segment_map"},
     {Action::segment_unmap, "segment_unmap"}}};

/// By SnapshotBlock::State. A state of another name is a block that waits for a stream.
inline constexpr std::array<std::string_view, 3> state_names{"inactive", "active_allocated", "active_pending_free"};

}  // namespace oomplan::read
