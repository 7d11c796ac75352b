#include "sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "../cards.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/verdict.hpp"

namespace oomplan::report::gate {
namespace {

std::string fit_text(const GateItem& item, const GateCheck& check) {
  const std::string needed = (check.at_least ? "at least " : "") + oomplan::to_text(check.needed);
  const std::string note = item.assumed_trainer.empty() ? "" : " (" + item.assumed_trainer + ")";
  std::string out = fmt::format("{} needed on {}, of {} that the headroom leaves", needed,
                                cards_text(item.count, check.gpu), oomplan::to_text(check.limit));
  if (check.fits && check.paged_to_host > Bytes(0))
    out += fmt::format(", with {} paged to the host", oomplan::to_text(check.paged_to_host));
  if (!check.fits && !check.at_least && check.needed <= check.gpu.total)
    out += fmt::format("; the run completes there, with {} free", oomplan::to_text(check.gpu.total - check.needed));
  out += note;
  if (check.fits || !item.largest_bucket) return out;
  out += fmt::format("; most of the peak is {}", name_of(*item.largest_bucket));
  return item.lever.empty() ? out : out + " (" + printable(item.lever) + ")";
}

/// The limits of the host: those that are too small, of what fits all.
std::vector<std::string> host_of(const GateItem& item) {
  std::vector<std::string> out;
  for (const HostFit& limit : item.host)
    if (item.verdict == GateVerdict::fits || limit.verdict == FitVerdict::does_not_fit)
      out.push_back(limit_text(limit));
  return out;
}

std::vector<std::string> fits_of(const GateItem& item) {
  const GateCheck* check = tightest(item);
  std::vector<std::string> out;
  if (check != nullptr) out.push_back(fit_text(item, *check));
  for (std::string& line : host_of(item)) out.push_back(std::move(line));
  return out;
}

std::vector<std::string> errors_of(const GateItem& item) {
  std::vector<std::string> out;
  for (const Diagnostic& one : item.diagnostics) {
    if (one.severity != Severity::error) continue;
    const bool there = one.where == place_of(item) || one.where.line == 0;
    out.push_back(there ? sentence_of(one) : placed_sentence(one));
  }
  return out;
}

std::string changes_text(const std::vector<SettingChange>& changes) {
  std::string out;
  for (const SettingChange& change : changes) {
    const auto shown = [](const std::string& value) { return value.empty() ? "nothing" : printable(value); };
    out += fmt::format("{}{} {} → {}", out.empty() ? ": " : ", ", printable(change.key), shown(change.before),
                       shown(change.after));
  }
  return out;
}

}  // namespace

std::string_view words_of(GateVerdict verdict) {
  constexpr std::array<std::string_view, 6> words{"fits",      "does not fit",          "over budget",
                                                  "undecided", "undecided but allowed", "invalid"};
  return words.at(static_cast<std::size_t>(verdict));
}

const GateCheck* tightest(const GateItem& item) {
  const auto room = [](const GateCheck& check) { return check.limit - check.needed; };
  const GateCheck* out = nullptr;
  for (const GateCheck& check : item.checks) {
    if (!check.undecided.empty()) continue;
    const bool worse = out != nullptr && (out->fits != check.fits ? out->fits : room(check) < room(*out));
    if (out == nullptr || worse) out = &check;
  }
  return out;
}

std::string growth_of(const GateItem& item) {
  if (!item.growth) return printable(item.no_growth);
  const PeakGrowth& growth = *item.growth;
  if (growth.by == Bytes() && growth.changes.empty()) return {};
  if (growth.by == Bytes()) return "leaves the peak as it was" + changes_text(growth.changes);
  const bool more = growth.by > Bytes();
  return fmt::format("{} {} {} the peak{}", more ? "adds" : "takes",
                     oomplan::to_text(more ? growth.by : Bytes() - growth.by), more ? "to" : "off",
                     changes_text(growth.changes));
}

Location place_of(const GateItem& item) {
  return item.where.file == item.config ? item.where : Location{item.config, 1, 1};
}

std::string sentence_of(const Diagnostic& problem) {
  const std::string hint = problem.hint.empty() ? "" : " (" + printable(problem.hint) + ")";
  return printable(problem.message) + " [" + problem.code + "]" + hint;
}

std::string placed_sentence(const Diagnostic& problem) {
  const Location& where = problem.where;
  if (where.file.empty()) return sentence_of(problem);
  const std::string line = where.line > 0 ? fmt::format(":{}", where.line) : "";
  return printable(where.file) + line + ": " + sentence_of(problem);
}

std::vector<std::string> reasons_of(const GateItem& item) {
  switch (item.verdict) {
    case GateVerdict::fits:
    case GateVerdict::does_not_fit:
      return fits_of(item);
    case GateVerdict::over_budget:
      return {fmt::format("the peak grows by {}, and the budget is {}{}", oomplan::to_text(item.growth->by),
                          oomplan::to_text(*item.budget),
                          item.assumed_trainer.empty() ? "" : " (" + item.assumed_trainer + ")")};
    case GateVerdict::undecided:
    case GateVerdict::allowed:
    case GateVerdict::invalid:
      return errors_of(item);
  }
  return {};
}

std::string reason_of(const GateItem& item) { return fmt::format("{}", fmt::join(reasons_of(item), "; ")); }

std::string summary_of(const Gate& gate) {
  std::string out = counted(static_cast<std::int64_t>(gate.items.size()), "config");
  std::string_view between = ": ";
  for (std::size_t i = 0; i < gate_verdict_names.size(); ++i) {
    const auto verdict = static_cast<GateVerdict>(i);
    const std::size_t count = gate.count(verdict);
    if (count == 0) continue;
    std::string words(words_of(verdict));
    if (verdict == GateVerdict::fits && count > 1) words = "fit";
    if (verdict == GateVerdict::does_not_fit && count > 1) words = "do not fit";
    out += fmt::format("{}{} {}", between, count, words);
    between = ", ";
  }
  return out;
}

}  // namespace oomplan::report::gate
