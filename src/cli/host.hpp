// The host's part of an estimate.
#pragma once

#include <optional>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/host.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {

/// As the command line has it.
struct HostQuestion {
  std::string loader{};  ///< A LoaderProfile's path, or "".
  std::string ram{};
  std::string shared{};
  std::string cgroup{};
  std::string step_time{};

  bool is_asked() const { return !(loader + ram + shared + cgroup + step_time).empty(); }
};

/// Reads the profile and the sizes, and says what `plan` takes of the host. Errors: cli/bad-size, cli/usage,
/// ingest/bad-profile, catalog/unknown-library, and those of read_document.
/// `model` is null where the GPU's part of the answer is not decided.
Result<HostAnswer> answer_host(const HostQuestion& question, const TrainingPlan& plan, const HostModel* model,
                               const PagedOut& paged, const Catalog& catalog);

/// Why a limit of `host` cannot be decided; nothing where all can.
Diagnostics undecided_on(const HostAnswer& host);

}  // namespace oomplan::cli
