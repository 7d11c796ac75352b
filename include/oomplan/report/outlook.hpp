// What lies beyond the verdict: how far the micro-batch goes, which fix moves the peak most, which cards do, and what
// another version of the framework makes of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oomplan/advise/advice.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/survey/other_version.hpp"
#include "oomplan/survey/room.hpp"

namespace oomplan {

/// The known cards that a run fits, with the headroom that is wanted.
struct Cards {
  std::vector<Gpu> fitting{};  ///< The smallest first; where `all`, every one, else those about as large as the first.
  bool all = false;
  std::size_t known = 0;  ///< How many there are.
};

struct Outlook {
  std::optional<Room> room{};    ///< Nothing where it was not found.
  std::optional<Lever> lever{};  ///< Nothing where no fix of the kind saves a good deal.
  Cards cards{};
  std::optional<OtherVersion> version{};  ///< Where nobody named one, and another moves the peak.
};

}  // namespace oomplan
