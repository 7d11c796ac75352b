// For people: the verdict and what fills the card on one screen, and on demand the tables, and what they rest on.
//
//   fits on ONE NVIDIA GeForce RTX 4090: needs 13.74 GiB of 23.52 GiB, 9.78 GiB free
//   …
//   peak 12.88 GiB of tensors, in backward of step 2: logits_and_loss 5.87, weights 5.62, activations 1.06, …
#include <algorithm>
#include <array>
#include <cstddef>

#include "../sections.hpp"
#include "../view.hpp"

namespace oomplan::report::views {
namespace {

using Section = std::string (*)(const Report&, const ViewOptions&);

struct Part {
  Section section = nullptr;
  bool shown = true;
  bool goes_on = false;  ///< Without a blank line before it.
};

constexpr int most_terse = 3;

std::string composed(const Report& report, const ViewOptions& options) {
  const TextParts& parts = options.parts;
  const std::array sections{Part{host_verdict_section},
                            Part{verdict_section, true, true},
                            Part{outlook_section},
                            Part{model_section},
                            Part{phases_section, parts.phases},
                            Part{largest_section, parts.largest},
                            Part{runtime_section, parts.phases},
                            Part{host_section},
                            Part{facts_section, parts.assumptions},
                            Part{limits_section, true, !(parts.phases || parts.largest || parts.assumptions)},
                            Part{more_section, true, true}};
  std::string out;
  for (const Part& part : sections) {
    const std::string written = part.shown ? part.section(report, options) : "";
    if (!written.empty()) out += (out.empty() || part.goes_on ? "" : "\n") + written;
  }
  return out;
}

std::size_t lines_of(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

}  // namespace

std::string text(const Report& report, const ViewOptions& options) {
  if (!report.found.footprint) {
    return lengths_section(report, options) + worlds_section(report, options) + host_section(report, options);
  }
  if (options.verdict_only) return host_verdict_section(report, options) + verdict_section(report, options);
  std::string whole = composed(report, options);
  const TextParts& parts = options.parts;
  if (parts.phases || parts.largest || parts.assumptions) return whole;
  std::string out = whole;
  ViewOptions terse = options;
  while (lines_of(out) > screen_lines) {
    if (++terse.terse > most_terse) return whole;  // It would be more than a screen all the same.
    out = composed(report, terse);
  }
  return out;
}

}  // namespace oomplan::report::views
