#include <algorithm>
#include <array>

#include "dialect.hpp"

namespace oomplan::ingestion {

namespace dialects {
#define OOMPLAN_ENTRY(name) extern const Dialect name;
#include "registry/dialects.inc"
#undef OOMPLAN_ENTRY
}  // namespace dialects

namespace {
#define OOMPLAN_ENTRY(name) &dialects::name,
constexpr std::array all{
#include "registry/dialects.inc"
};
#undef OOMPLAN_ENTRY
}  // namespace

std::span<const Dialect* const> registry() { return all; }

const Dialect* find_dialect(std::string_view name) {
  const auto* found = std::ranges::find(all, name, &Dialect::name);
  return found == all.end() ? nullptr : *found;
}

}  // namespace oomplan::ingestion
