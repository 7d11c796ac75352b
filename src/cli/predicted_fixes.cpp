#include <algorithm>
#include <string_view>
#include <utility>

#include "oomplan/advise/advise.hpp"
#include "oomplan/core/text.hpp"
#include "opened.hpp"
#include "predicted.hpp"

namespace oomplan::cli {
namespace {

bool can_be_fixed(const Diagnosis& diagnosis, const Findings& findings) {
  const Cause cause = diagnosis.verdict.cause;
  return (cause == Cause::vram_exhausted || cause == Cause::vram_fragmentation) && !findings.fits.empty() &&
         findings.fits.front().verdict != FitVerdict::undecided && diagnosis.join &&
         diagnosis.join->contradictions.empty();
}

/// As a shell takes it for one word.
std::string word(const std::string& text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+-@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string fix_command(const Question& question) {
  std::string out = "oomplan fix " + word(question.config) + " --gpu " + word(question.gpus.front());
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) out += " " + option + " " + word(value);
  };
  for (const std::string& one : question.overrides) add("--set", one);
  for (const std::string& one : question.launch) add("--launch", one);
  for (const std::string& one : question.versions.frameworks) add("--framework", one);
  for (const std::string& one : question.versions.requirements) add("--requirements", one);
  if (question.trainer_said.empty()) add("--trainer", question.trainer);
  add("--dialect", question.dialect);
  add("--models", question.models);
  return out;
}

std::vector<Fix> steps_of(const Advice& advice, const Question& question) {
  std::vector<Fix> out;
  for (std::size_t i = 0; i < std::min(advice.taken.size(), advice.found->fixes.size()); ++i) {
    const Taken& taken = advice.found->fixes[i];
    std::string text = advice.taken[i].title + (taken.times > 1 ? ", " + std::to_string(taken.times) + " times" : "");
    const auto after = std::ranges::find_if(advice.steps, [&](const Trial& t) { return t.fixes.back() == taken; });
    if (after != advice.steps.end())
      text += std::string(": then it needs ") + (after->at_least ? "at least " : "") + to_text(after->needed) + " of " +
              to_text(advice.gpu.total);
    out.push_back({taken.id, std::move(text), Fix::Kind::ladder});
  }
  if (question.config != "-") out.push_back({"fix", fix_command(question) + " has them as a patch, and others."});
  return out;
}

void put_first(std::vector<Fix> fixes, Diagnosis& diagnosis) {
  const auto taken = [&](const Fix& fix) { return std::ranges::count(fixes, fix.id, &Fix::id) > 0; };
  std::erase_if(diagnosis.to_do, taken);
  std::erase_if(diagnosis.not_to_do, taken);
  diagnosis.to_do.insert(diagnosis.to_do.begin(), fixes.begin(), fixes.end());
}

/// What the config has already, or has no use for, is no advice.
void leave_out_what_is_so(const Ladder& ladder, const std::string& config, const AdviceQuestion& question,
                          Diagnosis& diagnosis) {
  std::vector<Fix> left;
  for (Fix& fix : diagnosis.to_do) {
    const std::string fact =
        fix.kind == Fix::Kind::ladder ? nothing_to_change(ladder, fix.id, question) : std::string();
    if (fact.empty()) {
      left.push_back(std::move(fix));
    } else {
      diagnosis.not_to_do.push_back({fix.id, "It changes nothing in " + config + ", where " + fact + ".", fix.kind});
    }
  }
  diagnosis.to_do = std::move(left);
}

}  // namespace

void add_fixes(Diagnosis& diagnosis, const Question& question, const Findings& findings, const Document& document) {
  const Result<Ladder> ladder = Ladder::load();
  if (!ladder || !findings.plan) return;
  AdviceQuestion asked{
      .plan = *findings.plan, .headroom = question.headroom, .document = &document, .ingest = ingest_options(question)};
  leave_out_what_is_so(*ladder, shown_path(question.config), asked, diagnosis);
  if (!can_be_fixed(diagnosis, findings)) return;
  asked.architecture = *findings.architecture;
  asked.gpu = findings.fits.front().gpu;
  const Result<Advice> advice = find_advice(asked, *ladder);
  if (advice && advice->found) put_first(steps_of(*advice, question), diagnosis);
}

}  // namespace oomplan::cli
