// Workflow commands that GitHub shows as annotations beside the line.
#include <fmt/format.h>

#include <algorithm>

#include "formats.hpp"
#include "oomplan/core/text.hpp"
#include "sentences.hpp"

namespace oomplan::report::gate {
namespace {

/// As the runner's own toolkit writes them (actions/toolkit: packages/core/src/command.ts).
std::string escaped(const std::string& text, bool property) {
  std::string out;
  for (const char letter : printable(text)) {
    const bool special = letter == '%' || (property && (letter == ':' || letter == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(letter)) : std::string(1, letter);
  }
  return out;
}

std::string_view level_of(GateVerdict verdict) {
  if (verdict == GateVerdict::fits) return "notice";
  return verdict == GateVerdict::allowed ? "warning" : "error";
}

std::string line_of(const GateItem& item) {
  const std::string growth = growth_of(item);
  const Location where = place_of(item);
  return fmt::format("::{} file={},line={},title={}::{}{}{}\n", level_of(item.verdict), escaped(where.file, true),
                     std::max(where.line, 1), escaped("oomplan: " + std::string(words_of(item.verdict)), true),
                     escaped(reason_of(item), false), growth.empty() ? "" : "; ", escaped(growth, false));
}

std::string line_of(const Diagnostic& problem) {
  const Location& where = problem.where;
  const std::string file = where.file.empty() ? "" : "file=" + escaped(where.file, true) + ",";
  const std::string line = where.line > 0 ? fmt::format("line={},", where.line) : "";
  const std::string_view level = problem.severity == Severity::warning ? "warning" : "error";
  return fmt::format("::{} {}{}title=oomplan::{}\n", level, file, line, escaped(sentence_of(problem), false));
}

}  // namespace

std::string github(const Gate& gate, const GateViewOptions&) {
  std::string out;
  for (const Diagnostics* all : {&gate.diagnostics, &gate.warnings})
    for (const Diagnostic& problem : *all) out += line_of(problem);
  for (const GateItem& item : gate.items)
    if (item.verdict != GateVerdict::fits || !growth_of(item).empty()) out += line_of(item);
  return out + "oomplan gate: " + summary_of(gate) + "\n";
}

}  // namespace oomplan::report::gate
