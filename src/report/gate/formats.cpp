#include "formats.hpp"

#include <algorithm>
#include <array>

namespace oomplan {
namespace {

struct Format {
  std::string_view name{};
  std::string (*write)(const Gate&, const GateViewOptions&) = nullptr;
};

constexpr std::array<Format, 7> formats{{{"text", report::gate::text},
                                         {"markdown", report::gate::markdown},
                                         {"junit", report::gate::junit},
                                         {"sarif", report::gate::sarif},
                                         {"github", report::gate::github},
                                         {"json", report::gate::json},
                                         {"html", report::gate::html}}};

}  // namespace

std::vector<std::string_view> gate_formats() {
  std::vector<std::string_view> out;
  for (const Format& format : formats) out.push_back(format.name);
  return out;
}

std::optional<std::string> gate_view(std::string_view format, const Gate& gate, const GateViewOptions& options) {
  const auto* found = std::ranges::find(formats, format, &Format::name);
  return found == formats.end() ? std::nullopt : std::optional(found->write(gate, options));
}

}  // namespace oomplan
