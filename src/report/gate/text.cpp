#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include "../layout.hpp"
#include "formats.hpp"
#include "sentences.hpp"

namespace oomplan::report::gate {
namespace {

Paint paint_of(GateVerdict verdict) {
  return verdict == GateVerdict::fits ? Paint::green : verdict == GateVerdict::allowed ? Paint::bold : Paint::red;
}

std::string head_of(const GateItem& item) {
  const Location where = place_of(item);
  return printable(where.file) + (where.line > 0 && !passes(item.verdict) ? fmt::format(":{}", where.line) : "");
}

std::string block_of(const GateItem& item, const GateViewOptions& options) {
  const std::string words(words_of(item.verdict));
  std::string out = painted(words, paint_of(item.verdict), options.colour) + "  " + head_of(item) + "\n";
  if (options.verdict_only) return out;
  std::vector<std::string> lines = reasons_of(item);
  lines.push_back(growth_of(item));
  for (const std::string& line : lines)
    if (!line.empty()) out += "  " + wrapped(line, 2, 2) + "\n";
  return out;
}

}  // namespace

/// What fails stands last, beside the prompt.
std::string text(const Gate& gate, const GateViewOptions& options) {
  std::string out;
  for (const bool passing : {true, false}) {
    for (const GateItem& item : gate.items)
      if (passes(item.verdict) == passing) out += block_of(item, options);
  }
  for (const Diagnostic& problem : gate.diagnostics) out += oomplan::to_text(problem);
  if (!gate.items.empty()) out += "\n" + summary_of(gate) + "\n";
  return out;
}

}  // namespace oomplan::report::gate
