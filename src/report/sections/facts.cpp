// What the estimate rests on: the user's own facts in a paragraph, what was assumed for them line by line.
#include "../facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

bool is_given(const Fact& fact) { return fact.origin.is_said(); }

/// The place, and how the fact follows from what stands there.
std::string origin_text(const Fact& fact, const Findings& found) {
  const Origin& origin = fact.origin;
  const bool of_config = origin.kind == Origin::Kind::config;
  const bool here = of_config && origin.where.file == found.config;
  std::string out = here ? std::to_string(origin.where.line) : to_text(origin);
  if (of_config && !found.recipe.empty()) out = origin.source;  // no file has a line of it
  const std::string derivation = derivation_of(fact);
  if (!derivation.empty()) out += (origin.kind == Origin::Kind::config ? ": " : ", ") + derivation;
  return out;
}

std::string value_text(const Fact& fact) {
  return to_text(fact.value) + (fact.resolved.empty() ? "" : " (" + fact.resolved + ")");
}

std::string given(const Report& report, std::size_t width) {
  std::string facts;
  for (const Fact& fact : report.facts) {
    if (!is_given(fact)) continue;
    facts += fmt::format("{}{}={} ({})", facts.empty() ? "" : ", ", fact.name, value_text(fact),
                         origin_text(fact, report.found));
  }
  if (facts.empty()) return {};
  const Findings& found = report.found;
  const std::string heading = found.recipe.empty() ? fmt::format("From {}, with its lines", printable(found.config))
                                                   : "From `" + printable(found.recipe) + "`";
  return wrapped(heading, 0, 2, width) + "\n  " + wrapped(facts, 2, 2, width) + "\n";
}

/// Columns for a source beside name and value; with fewer it goes below them.
constexpr std::size_t least_source = 33;

/// Name and value in columns, the source wrapped beside them.
std::string fact_line(const Fact& fact, std::size_t names, std::size_t values, std::size_t width) {
  const std::string head = fmt::format("  {:{}}  {:{}}  ", fact.name, names, value_text(fact), values);
  const std::size_t indent = 2 + names + 2 + values + 2;
  if (std::max(indent, width_of(head)) + least_source > width)
    return head + "\n      " + wrapped(origin_text(fact, Findings{}), 6, 6, width) + "\n";
  return head + wrapped(origin_text(fact, Findings{}), width_of(head), indent, width) + "\n";
}

std::string assumed(const Report& report, std::size_t width) {
  std::size_t names = 0;
  std::size_t values = 0;
  for (const Fact& fact : report.facts) {
    if (is_given(fact)) continue;
    names = std::max(names, fact.name.size());
    values = std::max(values, std::min<std::size_t>(width_of(value_text(fact)), 24));
  }
  std::string out;
  for (const Fact& fact : report.facts) {
    if (!is_given(fact)) out += fact_line(fact, names, values, width);
  }
  return out.empty() ? out : "Assumed, because the config does not say\n" + out;
}

}  // namespace

std::string facts_section(const Report& report, const ViewOptions& options) {
  const std::string first = given(report, options.width);
  const std::string second = assumed(report, options.width);
  return first + (first.empty() || second.empty() ? "" : "\n") + second;
}

}  // namespace oomplan::report
