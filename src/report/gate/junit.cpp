// JUnit XML as CI systems read it: a test case a config.
#include <fmt/format.h>

#include <algorithm>

#include "formats.hpp"
#include "oomplan/core/text.hpp"
#include "sentences.hpp"

namespace oomplan::report::gate {
namespace {

/// Characters that XML 1.0 has no place for are none after printable().
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

std::string_view element_of(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::does_not_fit:
    case GateVerdict::over_budget:
      return "failure";
    case GateVerdict::allowed:
      return "skipped";
    default:
      return "error";
  }
}

std::string case_of(const GateItem& item) {
  const std::string head = fmt::format("    <testcase classname=\"oomplan.gate\" name=\"{}\"", escaped(item.config));
  const std::string growth = growth_of(item);
  const std::string out = growth.empty() ? "" : "      <system-out>" + escaped(growth) + "</system-out>\n";
  if (item.verdict == GateVerdict::fits) return out.empty() ? head + "/>\n" : head + ">\n" + out + "    </testcase>\n";
  const std::string_view element = element_of(item.verdict);
  const std::string type = element == "skipped" ? "" : fmt::format(" type=\"{}\"", name_of(item.verdict));
  const std::string place = fmt::format("{}:{}: ", place_of(item).file, std::max(place_of(item).line, 1));
  return head + ">\n" +
         fmt::format("      <{0} message=\"{1}\"{2}>{3}</{0}>\n", element,
                     escaped(std::string(words_of(item.verdict)) + ": " + reason_of(item)), type,
                     element == "skipped" ? "" : escaped(place + reason_of(item))) +
         out + "    </testcase>\n";
}

}  // namespace

std::string junit(const Gate& gate, const GateViewOptions&) {
  const auto failures = gate.count(GateVerdict::does_not_fit) + gate.count(GateVerdict::over_budget);
  const auto errors = gate.count(GateVerdict::undecided) + gate.count(GateVerdict::invalid) + gate.diagnostics.size();
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                                         gate.items.size() + gate.diagnostics.size(), failures, errors);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"oomplan\" {}>\n", counts);
  out +=
      fmt::format("  <testsuite name=\"oomplan gate\" {} skipped=\"{}\">\n", counts, gate.count(GateVerdict::allowed));
  for (const Diagnostic& problem : gate.diagnostics)
    out += fmt::format(
        "    <testcase classname=\"oomplan.gate\" name=\"{0}\"><error message=\"{1}\" "
        "type=\"{0}\">{2}</error></testcase>\n",
        escaped(problem.code), escaped(problem.message), escaped(placed_sentence(problem)));
  for (const GateItem& item : gate.items) out += case_of(item);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace oomplan::report::gate
