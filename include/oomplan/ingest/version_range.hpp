// What a range of versions in a list of requirements names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oomplan {

/// Whether a version is within terms of PEP 440 (">=0.19,<0.20", "~=0.19.1", "==0.19.*"). Numbers alone count.
bool is_within(std::string_view version, std::string_view range);

struct RangeVersion {
  std::string version{};
  bool several = false;  ///< The range leaves versions of more than one file of models/stacks.
};

/// Of a package whose versions were held against runs, the newest of them that the range leaves; where it leaves none,
/// a version that no run was measured of. Nothing where the range leaves the newest known, or of another package.
std::optional<RangeVersion> version_of_range(std::string_view package, std::string_view range);

}  // namespace oomplan
