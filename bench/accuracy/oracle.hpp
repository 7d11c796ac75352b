// Cases of training steps whose true allocated bytes are known, and estimates held against them. Shared by
// oracle_accuracy and the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::oracle {

/// What was measured: the run's peak and the peak of each phase of each step.
struct Truth {
  struct PhaseBytes {
    Phase phase = Phase::load;
    int step = 0;
    std::int64_t bytes = 0;
  };
  std::int64_t peak = 0;
  std::string peak_phase{};  ///< By its short name.
  std::vector<PhaseBytes> phases{};
};

/// One measured training run, as the plan that describes it.
struct Case {
  std::string id{};
  std::string model{};
  std::string unsupported{};  ///< Why no plan can say it; empty where one does.
  TrainingPlan plan{};
  std::optional<Architecture> architecture{};
  std::int64_t rank = 0;  ///< Of a pipeline.
  Truth truth{};
};

/// An estimate of a case against its truth.
struct Outcome {
  struct PhaseBytes {
    Phase phase;
    int step;
    std::int64_t predicted;
    std::int64_t truth;
  };

  std::string unsupported{};
  std::int64_t predicted = 0;
  Phase predicted_phase = Phase::load;
  double error = 0.0;        ///< Of the peak, in %.
  double worst_phase = 0.0;  ///< The largest error among the phases' peaks, in %.
  std::vector<PhaseBytes> phases{};
  ByBucket peak{};  ///< What `predicted` is made of.
};

/// The cases of three files that have a truth. MODELS: name -> {config: Hugging Face keys}. CASES: a list of plans.
/// RESULTS: for each case its id and the peaks of each phase of steps 1 and 2. `all` counts the cases without a truth
/// too. Throws std::exception where a file cannot be read or lacks something.
struct Cases {
  std::vector<Case> known{};
  std::size_t all = 0;
};
Cases read_cases(const std::string& models, const std::string& cases, const std::string& results,
                 const Catalog& catalog = {});

/// The cases of two such files, their truth left empty.
std::vector<Case> read_plans(const std::string& models, const std::string& cases);

/// Each model's config in MODELS as an architecture.
std::vector<std::pair<std::string, Architecture>> read_architectures(const std::string& models);

/// Of the case's rank.
Result<Footprint> estimate_case(const Case& c, Detail detail);
Outcome compare(const Footprint& footprint, const Truth& truth);

/// The footprint's events of tensors: the truth's backend has no kernels, which take memory for themselves.
std::vector<Event> events_of_tensors(const Footprint& footprint);
Outcome run(const Case& c);

/// "fwd", "loss", "bwd", "opt", "between" as the files name phases.
std::string_view short_name(Phase phase);

/// How many outcomes are right, and how right.
struct Summary {
  int supported = 0;
  int within_tenth_percent = 0;
  int within_percent = 0;
  int right_phase = 0;
  int phases_within_percent = 0;  ///< Cases whose every phase peak is.
  double worst = 0.0;

  void add(const Outcome& outcome, const Truth& truth);
};

}  // namespace oomplan::oracle
