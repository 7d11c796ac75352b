// Which parameters are gathered and reduced together.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "policy.hpp"

namespace oomplan::estimator {

struct Units {
  std::vector<std::size_t> of_parameter{};  ///< Of each: 0 is all that no other has, then the blocks'.
  std::array<std::size_t, 3> of_site{};     ///< By Site; 0: the module has no unit of its own.
  std::vector<std::size_t> order{};         ///< As model.named_modules() comes to them.
  std::size_t tail = 0;                     ///< The one of several modules, which stays whole; 0: there is none.

  std::size_t at(Site site) const { return of_site[static_cast<std::size_t>(site)]; }
};

/// `modules`: those outside the blocks that are units of their own, by name.
Units units_of(const Parameters& parameters, ShardUnits kind, const std::vector<std::string>& modules);

/// A unit of all that a model has.
Units one_unit(const Parameters& parameters);

}  // namespace oomplan::estimator
