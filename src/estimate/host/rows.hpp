// What the rows of a dataset take, in each form that they go through.
#pragma once

#include <optional>

#include "oomplan/catalog/runtime.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/loader_profile.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::host {

/// Sizes of one row on average, and of all. Nothing where neither the plan nor a profile says.
class Rows {
 public:
  Rows(const TrainingPlan& plan, const LoaderProfile* profile, const PythonCosts& costs);

  std::optional<double> values() const;       ///< Tokens of a row, or bytes of a text.
  std::optional<std::int64_t> count() const;  ///< Rows of the dataset.
  std::optional<double> stored() const;       ///< Bytes of a row as an array holds it.
  std::optional<double> object() const;       ///< … as Python objects.
  std::optional<double> batched() const;      ///< … in one tensor of a batch.
  std::optional<double> pickled() const;

  /// The dataset as it is held; nothing for what is not in a process's memory.
  std::optional<Bytes> held() const;
  /// Of a list: what one of the workers that go through it comes to copy, by its reference counts alone.
  std::optional<Bytes> copied_by_a_worker() const;
  /// Whether a sample's high ends stand for the rows of all.
  bool are_sampled() const { return profile_ != nullptr && profile_->sampled; }
  bool are_objects() const { return plan_.rows_as.value == RowsAs::list; }

 private:
  bool are_texts() const { return plan_.values.value == RowValues::bytes; }

  const LoaderPlan& plan_;
  std::int64_t batch_ = 1;
  std::int64_t sequence_length_ = 1;
  const LoaderProfile* profile_;
  const PythonCosts& costs_;
};

}  // namespace oomplan::host
