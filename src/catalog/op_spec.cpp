#include <algorithm>

#include "oomplan/catalog/architecture.hpp"

namespace oomplan {

const Attribute* OpSpec::find(std::string_view name) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& attribute) { return attribute.first == name; });
  return found == attributes.end() ? nullptr : &found->second;
}

}  // namespace oomplan
