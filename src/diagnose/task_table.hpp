// The kernel's table of tasks, one row a process.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

/// The row in `body` as facts row_pid, rss_pages, swapents, row_comm. The column sets of 2.6 to 6.x are told apart by
/// their number: `total_vm rss nr_ptes [nr_pmds] swapents`, `.. pgtables_bytes swapents`, `.. rss_anon rss_file
/// rss_shmem ..`.
std::optional<std::vector<Reading>> task_row(std::string_view body);

}  // namespace oomplan::diagnose
