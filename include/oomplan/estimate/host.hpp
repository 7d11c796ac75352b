// Host memory of a training job on one machine: what its ranks, their loaders and what those share take of RAM, of
// /dev/shm and of a cgroup's limit, each term with its formula.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/runtime.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/loader_profile.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// When a term is there. loading: from_pretrained. preparing: map() over the dataset. starting: the last worker of an
/// epoch is handed the dataset. running: the loaders' queues are full. saving: the same, and a checkpoint is written.
enum class HostMoment : std::uint8_t { loading, preparing, starting, running, saving };
inline constexpr std::array<std::string_view, 5> host_moment_names{"loading", "preparing", "starting", "running",
                                                                   "saving"};
inline constexpr std::array host_moments{HostMoment::loading, HostMoment::preparing, HostMoment::starting,
                                         HostMoment::running, HostMoment::saving};
constexpr std::string_view name_of(HostMoment moment) { return host_moment_names[static_cast<std::size_t>(moment)]; }

/// process: anonymous memory. shared: /dev/shm, touched by a process or not. pinned: page-locked. files: pages of
/// programs and libraries, in use. page_cache: of data files, given back where memory is short.
enum class HostPlace : std::uint8_t { process, shared, pinned, files, page_cache };
inline constexpr std::array<std::string_view, 5> host_place_names{"process", "shared", "pinned", "files", "page_cache"};
constexpr std::string_view name_of(HostPlace place) { return host_place_names[static_cast<std::size_t>(place)]; }

struct HostTerm {
  std::string name{};
  HostPlace place = HostPlace::process;
  std::array<Bytes, host_moments.size()> at{};  ///< By HostMoment, of the whole machine.
  std::string formula{};                        ///< "2 ranks × 145.00 MiB".
  std::string source{};
};

struct HostFootprint {
  std::vector<HostTerm> terms{};
  std::vector<std::string> missing{};  ///< What is not known and takes RAM.
  Bytes in_passing{};                  ///< Of /dev/shm: one batch a rank more, while it takes the last one's place.
  bool shared_is_known = true;         ///< Whether nothing is missing of /dev/shm.

  Bytes in(HostPlace place, HostMoment moment) const {
    Bytes out;
    for (const HostTerm& term : terms) {
      if (term.place == place) out += term.at[static_cast<std::size_t>(moment)];
    }
    return out;
  }
  /// All but the page cache.
  Bytes ram(HostMoment moment) const {
    return in(HostPlace::process, moment) + in(HostPlace::shared, moment) + in(HostPlace::pinned, moment) +
           in(HostPlace::files, moment);
  }
  /// The moment of most RAM; of equal ones `running`, or else the first.
  HostMoment worst() const {
    HostMoment out = HostMoment::running;
    for (const HostMoment moment : host_moments) {
      if (ram(moment) > ram(out)) out = moment;
    }
    return out;
  }
  Bytes ram() const { return ram(worst()); }
  /// The most in /dev/shm.
  Bytes shared() const { return in(HostPlace::shared, HostMoment::running); }
  /// The most that a cgroup cannot give back: RAM without files.
  Bytes unreclaimable() const { return ram() - in(HostPlace::files, worst()); }
  /// What would be cached if there were room.
  Bytes page_cache() const {
    Bytes out;
    for (const HostMoment moment : host_moments) out = std::max(out, in(HostPlace::page_cache, moment));
    return out;
  }
};

/// The model as the ranks have it, and as its loader does.
struct HostModel {
  std::vector<HeldParameter> parameters{};
  DType loaded = DType::fp32;      ///< Of from_pretrained.
  DType checkpoint = DType::fp32;  ///< Of the files.
  std::int64_t elements = 0;       ///< Of the model that is trained, without what is added to it.
  bool tied = false;               ///< The head is the embedding, and has a name of its own in a state dict.
  std::int64_t state_tensors = 0;  ///< Of the optimizer, each as large as its parameter; -1: it has others.
};

/// `footprint` is the plan's, of more than Detail::peaks.
HostModel host_model(const TrainingPlan& plan, const Architecture& architecture, const Footprint& footprint);

/// What a rank keeps on the host that a GPU would hold, page-locked tensors rounded up as they are; 0: nothing is
/// offloaded, or of an optimizer with other state. `footprint` as host_model() takes it.
Bytes offloaded_by_rank(const TrainingPlan& plan, const Architecture& architecture, const Footprint& footprint);

/// `model` is null where it is not known, `profile` where none was given. The plan's libraries are `libraries`.
HostFootprint host_footprint(const TrainingPlan& plan, const HostModel* model, const LoaderProfile* profile,
                             const std::vector<Library>& libraries, const PythonCosts& costs);

/// What the driver keeps of a paged optimizer's state in host RAM, of one rank, and which part that is.
struct PagedOut {
  Bytes each{};
  std::string which{};
};

void add_paged(HostFootprint& footprint, const TrainingPlan& plan, const PagedOut& paged);

struct HostLimits {
  std::optional<Bytes> ram{};
  std::optional<Bytes> shared{};
  std::optional<Bytes> cgroup{};
};

/// One for each limit.
std::vector<HostFit> fit(const HostFootprint& footprint, const HostLimits& limits);

/// Whether rows come as fast as the step takes them: reading and decoding only, or all that a loader does, as measured.
struct Feed {
  double read_per_second = 0;                ///< By one reader.
  std::optional<double> taken_per_second{};  ///< By one rank.
  std::string unknown{};                     ///< Why taken_per_second is not known.
  std::int64_t readers = 1;                  ///< Of a rank: its workers, or itself; 1 where the whole loader was timed.
  bool is_of_loader = false;                 ///< The whole loader was timed, with its workers.

  /// Nothing where that is not known.
  std::optional<bool> keeps_up() const {
    if (!taken_per_second) return std::nullopt;
    return read_per_second * static_cast<double>(readers) >= *taken_per_second;
  }
};

/// `step_seconds` is that of one optimizer step.
Feed feed(const TrainingPlan& plan, const LoaderProfile& profile, std::optional<double> step_seconds);

/// All that is said of the host.
struct HostAnswer {
  std::optional<LoaderProfile> profile{};
  HostFootprint footprint{};
  std::vector<HostFit> fits{};
  std::optional<Feed> feed{};
};

}  // namespace oomplan
