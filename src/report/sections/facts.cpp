// What the estimate rests on: the user's own facts in a paragraph, what was assumed for them line by line.
#include "../facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

bool is_given(const Fact& fact) {
  return fact.origin.kind == Origin::Kind::config || fact.origin.kind == Origin::Kind::command_line;
}

std::string line_text(const Origin& origin, const std::string& config) {
  if (origin.kind == Origin::Kind::config && origin.where.file == config) return std::to_string(origin.where.line);
  return to_text(origin);
}

std::string given(const Report& report) {
  std::string facts;
  for (const Fact& fact : report.facts) {
    if (!is_given(fact)) continue;
    facts += fmt::format("{}{}={} ({})", facts.empty() ? "" : ", ", fact.name, to_text(fact.value),
                         line_text(fact.origin, report.found.config));
  }
  if (facts.empty()) return {};
  const std::string heading = fmt::format("From {}, with its lines", printable(report.found.config));
  return heading + "\n  " + wrapped(facts, 2, 2) + "\n";
}

/// Name and value in columns, the source wrapped beside them.
std::string fact_line(const Fact& fact, std::size_t names, std::size_t values) {
  const std::string head = fmt::format("  {:{}}  {:{}}  ", fact.name, names, to_text(fact.value), values);
  const std::size_t indent = 2 + names + 2 + values + 2;
  return head + wrapped(to_text(fact.origin), width_of(head), indent) + "\n";
}

std::string assumed(const Report& report) {
  std::size_t names = 0;
  std::size_t values = 0;
  for (const Fact& fact : report.facts) {
    if (is_given(fact)) continue;
    names = std::max(names, fact.name.size());
    values = std::max(values, std::min<std::size_t>(width_of(to_text(fact.value)), 24));
  }
  std::string out;
  for (const Fact& fact : report.facts) {
    if (!is_given(fact)) out += fact_line(fact, names, values);
  }
  return out.empty() ? out : "Assumed, because the config does not say\n" + out;
}

}  // namespace

std::string facts_section(const Report& report, const ViewOptions&) {
  const std::string first = given(report);
  const std::string second = assumed(report);
  return first + (first.empty() || second.empty() ? "" : "\n") + second;
}

}  // namespace oomplan::report
