// From the text of logs to a diagnosis.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "oomplan/diagnose/memory_account.hpp"
#include "oomplan/read/log_text.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan {

/// A file of rules/: sentences (messages/), causes (causes/), moments of a run (moments/).
struct RuleFile {
  std::string path{};  ///< Below rules/ ("messages/pytorch.yaml").
  std::string text{};
  std::string file{};  ///< As messages name it.
};

/// The rules of a user's own directory, to go before those of the program; a file of the same path replaces the
/// program's. Errors: diagnose/unreadable-rules.
Result<std::vector<RuleFile>> read_rules(const std::string& directory);

namespace diagnose {
struct Rules;
}

/// Rules ready for use; cheap to copy.
class Rulebook {
 public:
  /// `own` before the program's. Errors: diagnose/bad-rule, with the place in the file.
  static Result<Rulebook> load(const std::vector<RuleFile>& own = {});

  const diagnose::Rules& rules() const { return *rules_; }

 private:
  explicit Rulebook(std::shared_ptr<const diagnose::Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const diagnose::Rules> rules_;
};

/// Reads one case, which may be several logs, in bounded memory, and tells what died of what.
class Inquest {
 public:
  explicit Inquest(Rulebook rules);
  Inquest(Inquest&&) noexcept;
  Inquest& operator=(Inquest&&) noexcept;
  ~Inquest();

  /// The blocks of a log that follow belong to `name`.
  void begin(const std::string& name);
  /// The next lines of it; only the last may lack its end.
  void read(std::string_view block);
  /// A memory snapshot is of the case as well.
  void add(const Snapshot& snapshot);

  /// The diagnosis of everything read.
  Diagnosis finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same for text already in memory.
Diagnosis diagnose_text(const Rulebook& rules, std::string_view text, const std::string& name);

/// Holds the diagnosis against what the run's config predicts.
Join join(const Diagnosis& diagnosis, const Prediction& prediction);

/// What held each device's memory: one account a device that holds some or has a trace.
std::vector<MemoryAccount> accounts_of(const Snapshot& snapshot);

}  // namespace oomplan
