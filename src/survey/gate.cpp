#include <algorithm>
#include <utility>

#include "growth.hpp"
#include "lever.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/plan/trainer.hpp"
#include "oomplan/read/glob.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

Result<TrainingPlan> plan_of(const Document& document, const IngestOptions& options, const GateRule& rule,
                             const ModelFinder& models, const Architecture** architecture) {
  Result<TrainingPlan> plan = plan_on(document, options, rule.gpus, rule.headroom, models);
  if (!plan) return plan;
  const Result<Architecture>& found = models(*plan);
  if (found) {
    *architecture = &*found;
    return with_model_defaults(std::move(*plan), *found);
  }
  Diagnostics errors = found.errors();
  for (Diagnostic& error : errors)
    if (error.where.file.empty()) error.where = plan->model.name.origin.where;
  for (const Unmodelled& gap : plan->unmodelled) errors.push_back(error_of(gap));
  return errors;
}

bool is_unsaid(const TrainingPlan& plan) {
  return std::ranges::count(plan.warnings, "estimate/any-length", &Diagnostic::code) > 0;
}

/// Rows whose length nothing says are the longest in one state and the shortest in the other.
bool are_of_unsaid_lengths(const TrainingPlan& one, const TrainingPlan& other) {
  return (is_unsaid(one) || is_unsaid(other)) && one.batch.sequence_length.value != other.batch.sequence_length.value;
}

GateCheck check_of(FitCheck& fit_check, const GateRule& rule, const Gpu& gpu, Diagnostics& errors) {
  GateCheck check{.gpu = gpu, .limit = limit_of(gpu, rule.headroom)};
  const CheckedFit fit = fit_check.on(gpu, check.limit);
  check.needed = fit.needed;
  check.at_least = fit.at_least;
  check.fits = fit.fits;
  check.paged_to_host = fit.paged_to_host;
  if (fit.errors.empty()) return check;
  check.undecided = fit.errors.front().message;
  for (const Diagnostic& error : fit.errors)
    if (std::ranges::count(errors, error) == 0) errors.push_back(error);
  return check;
}

class Judgement {
 public:
  Judgement(const Policy& policy, const GateQuestion& question) : policy_(policy), question_(question) {
    item_.config = question.config;
    item_.where = {question.config, 1, 1};
  }

  GateItem item(const Result<Document>& document, const std::function<bool(const Diagnostics&)>& undecidable) && {
    if (document) {
      look_at(*document);
      add_excerpts(*document);
    } else {
      errors_ = document.errors();
    }
    settle_verdict(undecidable);
    return std::move(item_);
  }

 private:
  void look_at(const Document& document) {
    const GateRule* rule = rule_for(policy_, question_.config);
    if (rule == nullptr) {
      errors_.push_back({.code = "survey/no-rule",
                         .message = "no rule of " + policy_.file + " is for this config",
                         .where = {question_.config, 0, 0},
                         .hint = "gpus: at the policy's top is for all configs that no rule is for"});
      return;
    }
    item_.budget = rule->budget;
    const Architecture* architecture = nullptr;
    const Result<TrainingPlan> plan = plan_of(document, question_.ingest, *rule, question_.models, &architecture);
    if (!plan) {
      errors_ = plan.errors();
      return;
    }
    item_.diagnostics = plan->warnings;
    item_.count = gpu_count(*plan);
    item_.assumed_trainer = assumed_trainer(*plan);
    check_cards(*plan, *architecture, *rule, document);
  }

  void check_cards(const TrainingPlan& plan, const Architecture& architecture, const GateRule& rule,
                   const Document& document) {
    FitCheck fit_check(plan, architecture);
    for (const Gpu& gpu : rule.gpus) item_.checks.push_back(check_of(fit_check, rule, gpu, errors_));
    if (!fit_check.peaks()) return;
    hold_host(plan, architecture);
    item_.peak = fit_check.peaks()->peak.tensors();
    item_.largest_bucket = survey::largest_of(fit_check.peaks()->peak.by_bucket);
    const survey::Lever lever = survey::lever_of(plan, *item_.largest_bucket, document.file);
    item_.lever = lever.key;
    item_.where = lever.where;
    compare(plan, rule);
  }

  /// With what the worst of the cards has no room for.
  void hold_host(const TrainingPlan& plan, const Architecture& architecture) {
    if (!question_.host || item_.checks.empty()) return;
    const GateCheck& worst = *std::ranges::max_element(item_.checks, {}, &GateCheck::paged_to_host);
    HostHeld held = question_.host(plan, architecture, paged_out_of(worst.gpu, worst.paged_to_host));
    item_.host = std::move(held.fits);
    errors_.insert(errors_.end(), held.errors.begin(), held.errors.end());
  }

  void compare(const TrainingPlan& plan, const GateRule& rule) {
    item_.no_growth = question_.no_baseline;
    if (question_.baseline == nullptr) return;
    const Architecture* architecture = nullptr;
    const Result<Document>& former = *question_.baseline;
    const Result<TrainingPlan> before =
        former ? plan_of(*former, question_.baseline_ingest, rule, question_.models, &architecture)
               : Result<TrainingPlan>(former.errors());
    if (before && are_of_unsaid_lengths(plan, *before))
      return add_no_growth({.code = "ingest/missing-fact", .message = "nothing says how long rows are"});
    const Result<Footprint> peaks =
        before ? estimate(*before, *architecture, Detail::peaks) : Result<Footprint>(before.errors());
    if (!peaks) return add_no_growth(peaks.errors().front());
    const Bytes then = peaks->peak.tensors();
    item_.growth = PeakGrowth{then, item_.peak - then, survey::changes_between(*before, plan)};
  }

  /// The line is one of the former state, so it stands in the text.
  void add_no_growth(const Diagnostic& why) {
    const Location& where = why.where;
    const std::string place = where.line > 0 ? where.file + ":" + std::to_string(where.line) + ": " : "";
    const std::string text = "the former state has no peak: " + place + why.message;
    if (!item_.budget) {
      item_.no_growth = text;
    } else {
      errors_.push_back({.code = why.code, .message = text, .where = {question_.config, 0, 0}, .hint = why.hint});
    }
  }

  /// Stages that see a plan know the line but not its text.
  void add_excerpts(const Document& document) {
    for (Diagnostics* all : {&errors_, &item_.diagnostics}) {
      for (Diagnostic& one : *all)
        if (one.excerpt.empty()) one.excerpt = document.excerpt(one.where);
    }
  }

  void settle_verdict(const std::function<bool(const Diagnostics&)>& undecidable) {
    const bool too_much =
        std::ranges::any_of(item_.checks,
                            [](const GateCheck& check) { return check.undecided.empty() && !check.fits; }) ||
        too_small(item_.host) != nullptr;
    if (!errors_.empty()) {
      item_.verdict = !undecidable(errors_) ? GateVerdict::invalid
                      : too_much            ? GateVerdict::does_not_fit
                      : over()              ? GateVerdict::over_budget
                      : allowed()           ? GateVerdict::allowed
                                            : GateVerdict::undecided;
      // The reason and its place are those of one error, so the first is one that has a place.
      std::stable_partition(errors_.begin(), errors_.end(), [](const Diagnostic& one) { return one.where.line > 0; });
      const Location& where = errors_.front().where;
      if (!too_much && !over()) item_.where = where.line > 0 ? where : Location{question_.config, 1, 1};
    } else {
      item_.verdict = too_much ? GateVerdict::does_not_fit : over() ? GateVerdict::over_budget : GateVerdict::fits;
    }
    item_.diagnostics.insert(item_.diagnostics.begin(), errors_.begin(), errors_.end());
  }

  bool allowed() const { return globs_mean(policy_.allow_undecided, question_.config); }

  bool over() const { return item_.growth && item_.budget && item_.growth->by > *item_.budget; }

  const Policy& policy_;
  const GateQuestion& question_;
  GateItem item_{};
  Diagnostics errors_{};
};

}  // namespace

GateItem judge(const Policy& policy, const Result<Document>& document, const GateQuestion& question,
               const std::function<bool(const Diagnostics&)>& undecidable) {
  return Judgement(policy, question).item(document, undecidable);
}

}  // namespace oomplan
