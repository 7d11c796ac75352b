#include <utility>

#include "case.hpp"
#include "collector.hpp"
#include "judge.hpp"
#include "oomplan/diagnose.hpp"
#include "reader.hpp"
#include "rules.hpp"

namespace oomplan {

struct Inquest::State {
  explicit State(Rulebook book) : rules(std::move(book)), collector(rules.rules().loud) {}
  Rulebook rules;
  diagnose::Collector collector;
  std::vector<std::string> files{};
};

Inquest::Inquest(Rulebook rules) : state_(std::make_unique<State>(std::move(rules))) {}
Inquest::Inquest(Inquest&&) noexcept = default;
Inquest& Inquest::operator=(Inquest&&) noexcept = default;
Inquest::~Inquest() = default;

void Inquest::begin(const std::string& name) {
  if (!state_->files.empty()) state_->collector.end();
  state_->collector.begin(static_cast<int>(state_->files.size()));
  state_->files.push_back(name);
}

void Inquest::read(const TextBlock& block) { state_->collector.read(block); }

Diagnosis Inquest::finish() {
  if (!state_->files.empty()) state_->collector.end();
  const std::vector<diagnose::Line> lines = state_->collector.take();
  const diagnose::Rules& rules = state_->rules.rules();
  const std::vector<Evidence> evidence = diagnose::read_lines(rules, lines, state_->files);
  Diagnosis out = diagnose::judge(rules, diagnose::case_of(rules, evidence, lines, state_->files));
  out.lines = state_->collector.lines_seen();
  return out;
}

Diagnosis diagnose_text(const Rulebook& rules, std::string_view text, const std::string& name) {
  Inquest inquest(rules);
  inquest.begin(name);
  inquest.read({text, 1});
  return inquest.finish();
}

}  // namespace oomplan
