#include "predicted.hpp"

#include <algorithm>
#include <utility>

#include "oomplan/estimate/estimate.hpp"
#include "oomplan/plan/trainer.hpp"
#include "opened.hpp"
#include "options.hpp"

namespace oomplan::cli {
namespace {

Prediction refused(const Question& question, const Diagnostics& why, Diagnostics& problems) {
  problems.insert(problems.end(), why.begin(), why.end());
  return {.config = shown_path(question.config),
          .problem = why.empty() ? "for an unknown reason" : why.front().message};
}

void add_gpu(const Findings& findings, Prediction& out) {
  if (findings.fits.empty()) return;
  const Fit& fit = findings.fits.front();
  out.gpu = fit.gpu.name;
  out.gpu_total = fit.gpu.total.count();
  out.beside = fit.gpu.context.count();  // what is reserved holds the workspaces
  out.needed = fit.needed.count();
}

Prediction predicted(const Question& question, const Findings& found, Diagnostics& problems) {
  if (!found.footprint || !found.plan || !found.architecture) return refused(question, found.diagnostics, problems);
  Result<std::vector<LiveGroup>> allocated = allocations(*found.plan, *found.architecture);
  if (!allocated) return refused(question, allocated.errors(), problems);
  Prediction out{
      .config = shown_path(question.config), .peaks = found.footprint->peaks, .allocations = std::move(*allocated)};
  if (found.reserved && !found.reserved->peak.saturated()) out.reserved = found.reserved->peak.count();
  add_gpu(found, out);
  for (const Diagnostic& warning : found.plan->warnings) problems.push_back(warning);
  if (const std::string assumed = assumed_trainer(*found.plan); !assumed.empty()) {
    problems.push_back({Severity::warning, "ingest/assumed-trainer", "estimated " + assumed, {question.config, 0, 0}});
  }
  return out;
}

}  // namespace

void add_prediction_options(const ArgumentParser& app, Question& question) {
  const Option config =
      app.option("--config", question.config, "The run's training config, to hold its estimate against the log")
          .type_name("CONFIG");
  app.option("--gpu", question.gpus, "The GPU that it ran on, by name or size (24GiB)")
      .once()
      .needs(config)
      .type_name("NAME");
  add_trainer_option(app, question.trainer).needs(config);
  add_launch_option(app, question.launch).needs(config);
  add_set_option(app, question.overrides).needs(config);
  add_version_options(app, question.versions);
  app.option("--dialect", question.dialect, dialect_help()).needs(config).type_name("NAME");
  add_models_option(app, question.models);
}

Expected expected(const Question& question) {
  Expected out{.question = question};
  if (question.config.empty()) return out;
  out.findings = answer(out.question, &out.document);
  const auto is_of_gpu = [](const Diagnostic& d) { return d.code == "catalog/unknown-gpu"; };
  if (out.findings.diagnostics.empty() || !std::ranges::all_of(out.findings.diagnostics, is_of_gpu)) return out;
  out.problems = std::move(out.findings.diagnostics);
  out.question.gpus.clear();
  out.findings = answer(out.question, &out.document);
  return out;
}

void add_join(Diagnosis& diagnosis, const Expected& expected, Diagnostics& problems) {
  const Question& question = expected.question;
  if (question.config.empty()) return;
  problems.insert(problems.end(), expected.problems.begin(), expected.problems.end());
  diagnosis.join = join(diagnosis, predicted(question, expected.findings, problems));
  if (diagnosis.join->problem.empty() && expected.document)
    add_fixes(diagnosis, question, expected.findings, *expected.document);
}

}  // namespace oomplan::cli
