// A table for a job's summary or a comment.
#include <fmt/format.h>

#include "formats.hpp"
#include "oomplan/core/text.hpp"
#include "sentences.hpp"

namespace oomplan::report::gate {
namespace {

/// Text that Markdown and the HTML within it leave alone.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (letter == '&') {
      out += "&amp;";
    } else if (letter == '<') {
      out += "&lt;";
    } else {
      if (std::string_view("\\`*_{}[]()#+!|~@").find(letter) != std::string_view::npos) out += '\\';
      out += letter;
    }
  }
  return out;
}

std::string room_of(const GateItem& item) {
  const GateCheck* check = tightest(item);
  if (check == nullptr) return "| | |";
  return fmt::format("| {} | {}{} of {} |", escaped(check->gpu.title), check->at_least ? "at least " : "",
                     oomplan::to_text(check->needed), oomplan::to_text(check->limit));
}

std::string row_of(const GateItem& item) {
  std::string note = escaped(growth_of(item));
  if (item.verdict != GateVerdict::fits) note = escaped(reason_of(item)) + (note.empty() ? "" : "; " + note);
  return fmt::format("| {} | {} {} {} |\n", words_of(item.verdict), escaped(item.config), room_of(item), note);
}

}  // namespace

std::string markdown(const Gate& gate, const GateViewOptions&) {
  std::string out = "### oomplan gate: " + summary_of(gate) + "\n\n";
  for (const Diagnostic& problem : gate.diagnostics) out += "- " + escaped(placed_sentence(problem)) + "\n";
  if (gate.items.empty()) return out;
  out += "| | config | GPU | needed | |\n| --- | --- | --- | --- | --- |\n";
  for (const bool passing : {false, true}) {
    for (const GateItem& item : gate.items)
      if (passes(item.verdict) == passing) out += row_of(item);
  }
  return out;
}

}  // namespace oomplan::report::gate
