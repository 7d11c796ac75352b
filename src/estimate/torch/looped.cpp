#include "torch/looped.hpp"

#include <algorithm>
#include <limits>

namespace oomplan::estimator {
namespace {

constexpr std::int64_t worth_it = Loops::played + 3;

}  // namespace

std::int16_t Loops::first_of(const Scope& at, std::int64_t turns) {
  if (next_ == 0 || at.layer < 0 || turns < worth_it) return -1;
  const auto same = [&](const Loop& l) { return l.layer == at.layer && l.module == at.module && l.turns == turns; };
  const auto known = std::ranges::find_if(all_, same);
  if (known != all_.end()) return known->first;
  if (next_ + played > std::numeric_limits<std::int16_t>::max()) return -1;
  all_.push_back({at.layer, at.module, turns, static_cast<std::int16_t>(next_)});
  next_ += played;
  return all_.back().first;
}

}  // namespace oomplan::estimator
