#include "view.hpp"

#include <algorithm>
#include <array>

namespace oomplan {
namespace {

struct ViewRow {
  std::string_view name{};
  std::string (*write)(const Report&, const ViewOptions&) = nullptr;
};

constexpr auto view_rows = std::to_array<ViewRow>({
#define OOMPLAN_ENTRY(name) {#name, report::views::name},
#include "registry/views.inc"
#undef OOMPLAN_ENTRY
});

}  // namespace

std::optional<std::string> render(const Report& report, std::string_view name, const ViewOptions& options) {
  const auto* row = std::find_if(view_rows.begin(), view_rows.end(), [&](const ViewRow& r) { return r.name == name; });
  if (row == view_rows.end()) return std::nullopt;
  return row->write(report, options);
}

std::vector<std::string_view> views() {
  std::vector<std::string_view> names;
  for (const ViewRow& row : view_rows) names.push_back(row.name);
  return names;
}

}  // namespace oomplan
