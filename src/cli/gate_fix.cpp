#include "gate_fix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "oomplan/core/bytes.hpp"

namespace oomplan::cli {
namespace {

/// A gate is asked of many configs: where the cheapest sets do not do, `oomplan fix` goes on.
constexpr std::int64_t most_sets = 100;

const GateCheck* worst_of(const GateItem& item) {
  const GateCheck* out = nullptr;
  for (const GateCheck& check : item.checks) {
    if (check.fits || !check.undecided.empty()) continue;
    if (out == nullptr || check.needed - check.limit > out->needed - out->limit) out = &check;
  }
  return out;
}

std::optional<Advice> advice_on(const GateCheck& worst, const GateRule& rule, const Document& document,
                                const GateQuestion& question, const Ladder& ladder) {
  Result<TrainingPlan> plan = plan_on(document, question.ingest, rule.gpus, rule.headroom, question.models);
  if (!plan) return std::nullopt;
  const Result<Architecture>& model = question.models(*plan);
  if (model) plan = with_model_defaults(std::move(*plan), *model);
  if (!model || !plan) return std::nullopt;
  Result<Advice> out = find_advice({.plan = std::move(*plan),
                                    .architecture = *model,
                                    .gpu = worst.gpu,
                                    .headroom = rule.headroom,
                                    .document = &document,
                                    .ingest = question.ingest,
                                    .most_sets = most_sets,
                                    .host = question.host,
                                    .cheapest_alone = true},
                                   ladder);
  return out ? std::optional(std::move(*out)) : std::nullopt;
}

/// Of text without its line end, as SARIF counts columns.
int utf16_units(std::string_view text) {
  int out = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool goes_on = (byte & 0xC0U) == 0x80U;
    out += goes_on ? 0 : byte >= 0xF0U ? 2 : 1;
  }
  return out;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// There is no line after the last: what reaches the end of the text ends within its last line, whose end stays.
GateReplacement replacement_of(const LineEdit& edit, const std::vector<std::string_view>& lines) {
  const std::size_t end = edit.from + edit.dropped;
  const int line = static_cast<int>(edit.from) + 1;
  if (end < lines.size()) return {line, 1, static_cast<int>(end) + 1, 1, edit.added};
  const std::string_view last = lines.empty() ? std::string_view{} : lines.back();
  const int count = static_cast<int>(std::max<std::size_t>(lines.size(), 1));
  const int column = utf16_units(without_end(last)) + 1;
  const std::string ending(last.substr(without_end(last).size()));
  std::string added = edit.added;
  if (!ending.empty() && added.ends_with(ending)) added.resize(added.size() - ending.size());
  if (edit.dropped == 0 && !lines.empty()) return {count, column, count, column, ending + added};
  if (added.empty() && edit.from > 0)
    return {line - 1, utf16_units(without_end(lines[edit.from - 1])) + 1, count, column, {}};
  return {line, 1, count, column, std::move(added)};
}

std::vector<GateReplacement> replacements_of(const std::string& before, const std::string& after) {
  const std::vector<std::string_view> lines = text_lines(before);
  std::vector<GateReplacement> out;
  for (const LineEdit& edit : line_edits(before, after)) out.push_back(replacement_of(edit, lines));
  return out;
}

std::string about(const Advice& advice, const GateCheck& worst) {
  std::string out;
  for (std::size_t i = 0; i < advice.taken.size(); ++i) {
    const int times = advice.found->fixes[i].times;
    out += (i == 0 ? "" : "; ") + advice.taken[i].title + (times > 1 ? fmt::format(", {} times", times) : "");
  }
  out += fmt::format(": then it needs {} of {} on {}", to_text(advice.found->needed), to_text(worst.limit),
                     worst.gpu.title);
  for (const LadderFix& fix : advice.taken)
    if (!fix.verify.empty()) out += fmt::format("; look at {}", fix.verify);
  return out;
}

}  // namespace

std::optional<GateFix> gate_fix(const GateItem& item, const GateRule& rule, const Document& document,
                                const GateQuestion& question, const Ladder& ladder, const JudgeAgain& judge) {
  const GateCheck* worst = item.verdict == GateVerdict::does_not_fit ? worst_of(item) : nullptr;
  if (worst == nullptr) return std::nullopt;
  const std::optional<Advice> advice = advice_on(*worst, rule, document, question, ladder);
  if (!advice || !advice->found || advice->patch.empty() || advice->launcher) return std::nullopt;
  const Result<std::string> text = patched(document, advice->keys);
  const Result<Document> again = text ? parse_document(*text, document.file, document.syntax) : text.errors();
  if (!again || judge(*again) != GateVerdict::fits) return std::nullopt;
  return GateFix{about(*advice, *worst), replacements_of(document.text, *text)};
}

}  // namespace oomplan::cli
