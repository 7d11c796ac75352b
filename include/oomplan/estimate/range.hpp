// A size that something unknown leaves open.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// A part of a size that depends on what nobody said or nobody can know before the run.
struct Contribution {
  std::string name{};  ///< "NCCL communicators"
  std::string why{};   ///< What it depends on, with the source of the figures.
  Bytes lower{};       ///< What the part takes at the least, and at the most.
  Bytes upper{};

  friend bool operator==(const Contribution&, const Contribution&) = default;
};

/// Both ends are equal where nothing is unknown. Figures and verdicts are those of the upper end.
struct Range {
  Bytes lower{};
  Bytes upper{};
  std::vector<Contribution> contributions{};  ///< None whose ends are equal.

  bool is_open() const { return lower < upper; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The range of a size in which each contribution counts with its upper end.
inline Range range_below(Bytes upper, const std::vector<Contribution>& contributions) {
  Range out{upper, upper};
  for (const Contribution& part : contributions) {
    if (part.lower >= part.upper) continue;
    out.lower -= part.upper - part.lower;
    out.contributions.push_back(part);
  }
  return out;
}

}  // namespace oomplan
