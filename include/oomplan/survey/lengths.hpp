// How long rows may be on a card, where nobody says how long they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan {

/// Rows of one length.
struct LengthPoint {
  std::int64_t length = 0;
  Bytes needed{};  ///< As in Fit.
  bool at_least = false;
  bool fits = false;
};

struct Lengths {
  std::string gpu{};                  ///< Its title.
  std::int64_t least = 1;             ///< The shortest row that there can be.
  std::int64_t most = 0;              ///< The longest that is tried.
  bool stops = false;                 ///< It is the model's last position: no row can be longer.
  std::int64_t largest = 0;           ///< The longest that fits, to within 1 %; 0: not even the shortest.
  Bytes needed{};                     ///< With it.
  std::vector<LengthPoint> points{};  ///< A few of them.

  bool any_fits() const { return stops && largest == most; }
  bool none_fits() const { return largest == 0; }
};

/// "rows of up to 5,312 tokens fit (74.29 GiB needed)".
inline std::string fitting_text(const Lengths& lengths) {
  if (lengths.none_fits()) return "not even the shortest rows fit";
  const std::string longest = lengths.largest < lengths.most ? ""
                              : lengths.stops                ? ", the longest that the model takes,"
                                                             : ", the longest tried,";
  return "rows of up to " + with_separators(lengths.largest) + " tokens" + longest + " fit (" +
         to_text(lengths.needed) + " needed)";
}

}  // namespace oomplan
