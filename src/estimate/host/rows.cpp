#include "rows.hpp"

#include <algorithm>
#include <cmath>

#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/texts.hpp"
#include "sizes.hpp"

namespace oomplan::host {
namespace {

double width_of(RowValues values) {
  constexpr std::array<double, 4> widths{8, 4, 2, 1};
  return widths.at(static_cast<std::size_t>(values));
}

/// The part of the pages that is touched of pages that `rows_on_a_page` rows have a part of, where a worker sees a row
/// with the chance `seen`: the rows lie one after another, so that a page has one row more or less.
double touched(double rows_on_a_page, double seen) {
  const double whole = std::floor(rows_on_a_page);
  const double part = rows_on_a_page - whole;
  const double missed = 1 - seen;
  return 1 - (1 - part) * std::pow(missed, whole) - part * std::pow(missed, whole + 1);
}

}  // namespace

Rows::Rows(const TrainingPlan& plan, const LoaderProfile* profile, const PythonCosts& costs)
    : plan_(plan.loader),
      batch_(plan.batch.micro_batch_size.value),
      sequence_length_(saturating_mul(plan.batch.sequence_length.value, texts_in_row(plan))),
      profile_(profile),
      costs_(costs) {}

std::optional<std::int64_t> Rows::count() const { return profile_ == nullptr ? std::nullopt : profile_->rows; }

std::optional<double> Rows::values() const {
  if (plan_.row_values.value > 0) return static_cast<double>(plan_.row_values.value);
  if (profile_ == nullptr || !profile_->mean_row) return std::nullopt;
  return *profile_->mean_row / width_of(plan_.values.value);
}

std::optional<double> Rows::stored() const {
  const auto count = values();
  return count ? std::optional(*count * width_of(plan_.values.value)) : std::nullopt;
}

std::optional<double> Rows::object() const {
  const auto count = values();
  if (!count) return std::nullopt;
  if (are_texts()) return *count + number(costs_.text) + number(costs_.slot);
  return *count * (number(costs_.integer) + number(costs_.slot)) + number(costs_.list) + number(costs_.slot);
}

std::optional<double> Rows::batched() const {
  if (plan_.padded.value) return 8.0 * static_cast<double>(sequence_length_);
  const auto count = values();
  if (!count) return std::nullopt;
  const bool widened = plan_.rows_as.value != RowsAs::numpy && plan_.rows_as.value != RowsAs::arrow && !are_texts();
  return *count * (widened ? 8.0 : width_of(plan_.values.value));
}

std::optional<double> Rows::pickled() const {
  const auto count = values();
  if (!count) return std::nullopt;
  return are_objects() && !are_texts() ? *count * number(costs_.pickled_integer) : stored();
}

std::optional<Bytes> Rows::held() const {
  if (plan_.rows_as.value == RowsAs::mapped || plan_.rows_as.value == RowsAs::stream) return Bytes(0);
  const auto row = are_objects() ? object() : stored();
  if (!row || !count()) return std::nullopt;
  return times(*count(), *row);
}

std::optional<Bytes> Rows::copied_by_a_worker() const {
  const auto row = values();
  if (!row || !count()) return std::nullopt;
  const double page = number(costs_.page);
  const double passes = plan_.persistent.value && plan_.shuffle.value ? static_cast<double>(plan_.epochs.value) : 1;
  const double seen = 1 - std::pow(1 - 1 / static_cast<double>(std::max<std::int64_t>(plan_.workers.value, 1)), passes);
  // Rows that come one after another to one worker are as one to it.
  const double run = plan_.shuffle.value ? 1 : static_cast<double>(batch_);
  // A text is one object, whose count stands before it; the rest of a long one is only read.
  if (are_texts()) {
    const double object = *row + number(costs_.text);
    return times(*count(), std::min(object, page) * touched(std::max(1.0, page / (object * run)), seen));
  }
  // Of a row of ints every int is touched, and not the list's array of references.
  const double ints = *row * number(costs_.integer);
  if (ints <= 0) return times(*count(), number(costs_.list));
  return times(*count(), ints * touched(1 + (page + number(costs_.apart)) / (ints * run), seen) + number(costs_.list));
}

}  // namespace oomplan::host
