// Whether a GPU and a host have room for a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {

/// at_the_edge: the run ends on this card, but not on every one down to that less the headroom. undecided: see
/// undecided_on.
enum class FitVerdict : std::uint8_t { fits, at_the_edge, does_not_fit, undecided };
inline constexpr std::array<std::string_view, 4> fit_verdict_names{"fits", "at_the_edge", "does_not_fit", "undecided"};
constexpr std::string_view name_of(FitVerdict verdict) { return fit_verdict_names[static_cast<std::size_t>(verdict)]; }

/// What a run takes of a host, held against one limit. at_the_edge: more than 95 % of it; of /dev/shm, more than it in
/// passing; of a cgroup, more than it with the pages of libraries, which it would read again and again. undecided: what
/// is known fits, and something is not known.
struct HostFit {
  std::string name{};  ///< "host_ram", "shm", "cgroup".
  Bytes limit{};
  Bytes needed{};
  FitVerdict verdict = FitVerdict::undecided;

  bool fits() const { return verdict == FitVerdict::fits || verdict == FitVerdict::at_the_edge; }
  Bytes headroom() const { return limit - needed; }
};

/// The first limit that is too small: it stops the run, whatever is not known of another. Null: none is.
inline const HostFit* too_small(const std::vector<HostFit>& limits) {
  const auto found = std::ranges::find(limits, FitVerdict::does_not_fit, &HostFit::verdict);
  return found == limits.end() ? nullptr : &*found;
}

/// "host RAM: 70.00 GiB needed of 64.00 GiB".
inline std::string limit_text(const HostFit& fit) {
  const std::string name = fit.name == "host_ram" ? "host RAM" : fit.name == "shm" ? "/dev/shm" : "the cgroup";
  const std::string edge = fit.verdict == FitVerdict::at_the_edge ? ", at the edge" : "";
  return name + ": " + to_text(fit.needed) + " needed of " + to_text(fit.limit) + edge;
}

}  // namespace oomplan
