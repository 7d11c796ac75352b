// What a memory snapshot testifies to, in the words of a log.
#pragma once

#include <vector>

#include "oomplan/diagnose/evidence.hpp"
#include "oomplan/diagnose/memory_account.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan::diagnose {

/// The failed allocation, and the allocator's settings; nothing where there was none.
std::vector<Evidence> evidence_of(const Snapshot& snapshot, const MemoryAccount& account);

}  // namespace oomplan::diagnose
