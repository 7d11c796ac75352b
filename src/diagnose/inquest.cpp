#include <optional>
#include <utility>

#include "case.hpp"
#include "clock.hpp"
#include "collector.hpp"
#include "judge.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "reader.hpp"
#include "rules.hpp"
#include "snapshot_evidence.hpp"

namespace oomplan {

namespace {

// A log of one rank says which in its name.
void name_ranks(const std::vector<std::string>& files, std::vector<diagnose::Line>& lines) {
  std::vector<std::optional<std::int64_t>> ranks;
  for (const std::string& file : files) ranks.push_back(diagnose::rank_in(file));
  for (diagnose::Line& line : lines)
    if (!line.rank) line.rank = ranks.at(static_cast<std::size_t>(line.file));
}

}  // namespace

struct Inquest::State {
  explicit State(Rulebook book)
      : rules(std::move(book)), collector(rules.rules().loud, rules.rules().deadly, rules.rules().numbered) {}

  Rulebook rules;
  diagnose::Collector collector;
  std::vector<std::string> files{};
  std::vector<Evidence> snapshots{};
  std::vector<MemoryAccount> accounts{};
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

void Inquest::read(std::string_view block) { state_->collector.read(block); }

// The logs come first: they have the numbers of the moment, and a snapshot those of a little later.
void Inquest::add(const Snapshot& snapshot) {
  for (MemoryAccount& account : accounts_of(snapshot)) {
    for (Evidence& e : diagnose::evidence_of(snapshot, account)) {
      e.order =
          Order{static_cast<std::int64_t>(Order::after_lines) + static_cast<std::int64_t>(state_->snapshots.size())};
      state_->snapshots.push_back(std::move(e));
    }
    state_->accounts.push_back(std::move(account));
  }
}

Diagnosis Inquest::finish() {
  if (!state_->files.empty()) state_->collector.end();
  std::vector<diagnose::Line> lines = state_->collector.take();
  name_ranks(state_->files, lines);
  const diagnose::Rules& rules = state_->rules.rules();
  std::vector<Evidence> evidence = diagnose::read_lines(rules, lines, state_->files);
  evidence.insert(evidence.end(), state_->snapshots.begin(), state_->snapshots.end());
  Diagnosis out = diagnose::judge(rules, diagnose::case_of(rules, evidence, lines, state_->files));
  out.lines = state_->collector.lines_seen();
  out.accounts = std::move(state_->accounts);
  return out;
}

Diagnosis diagnose_text(const Rulebook& rules, std::string_view text, const std::string& name) {
  Inquest inquest(rules);
  inquest.begin(name);
  inquest.read(text);
  return inquest.finish();
}

}  // namespace oomplan
