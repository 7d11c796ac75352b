#include "oomplan/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "least_squares.hpp"

namespace oomplan {
namespace {

using Runs = std::vector<const MeasuredRun*>;
using Column = std::vector<double>;

double of(Bytes bytes) { return static_cast<double>(bytes.count()); }
Bytes bytes_of(double value) { return Bytes(static_cast<std::int64_t>(std::llround(std::clamp(value, 0.0, 9e15)))); }

template <class Value>
Column column_of(const Runs& runs, const Value& value) {
  Column out;
  for (const MeasuredRun* run : runs) out.push_back(value(*run));
  return out;
}

Bytes mean_or_zero(const Column& values) {
  double sum = 0;
  for (const double value : values) sum += value / static_cast<double>(values.size());
  return bytes_of(sum);
}

/// What was reserved beyond what was predicted, over the tensors that were.
calibrating::Point reserved_beyond(const MeasuredRun& run) {
  return {of(run.predicted_allocated), of(run.reserved - run.predicted_reserved)};
}

std::vector<calibrating::Point> points_of(const Runs& runs) {
  std::vector<calibrating::Point> out;
  for (const MeasuredRun* run : runs) out.push_back(reserved_beyond(*run));
  return out;
}

CardTerms terms_of(const calibrating::Line& line) { return {.residue = bytes_of(line.constant), .slack = line.slope}; }

double error(const MeasuredRun& run, Bytes predicted) { return std::abs(of(predicted) / of(run.reserved) - 1); }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double with_terms(const MeasuredRun& run, const CardTerms& terms) {
  return error(run, run.predicted_reserved + terms.beyond(run.predicted_allocated));
}

/// Each run by terms of the others.
double left_out_error(const Runs& runs, const calibrating::LineSums& sums) {
  return median(column_of(runs, [&](const MeasuredRun& run) {
    return with_terms(run, terms_of(sums.line_without(reserved_beyond(run))));
  }));
}

CardTerms fitted(const Runs& runs) {
  const calibrating::LineSums sums(points_of(runs));
  CardTerms out = terms_of(sums.line());
  out.runs = static_cast<std::int64_t>(runs.size());
  out.workspaces =
      mean_or_zero(column_of(runs, [](const MeasuredRun& run) { return of(run.allocated - run.predicted_allocated); }));
  Column beside;
  for (const MeasuredRun* run : runs)
    if (run->beside) beside.push_back(of(*run->beside));
  if (!beside.empty()) out.context = mean_or_zero(beside);
  out.error_before = median(column_of(runs, [](const MeasuredRun& run) { return error(run, run.predicted_reserved); }));
  out.error_fitted = median(column_of(runs, [&](const MeasuredRun& run) { return with_terms(run, out); }));
  out.error_left_out = left_out_error(runs, sums);
  return out;
}

bool within_limits(const CardTerms& terms) {
  return of(terms.context.value_or(Bytes())) <= largest_term && of(terms.workspaces) <= largest_term &&
         of(terms.residue) <= largest_term && terms.slack <= largest_slack && terms.error_left_out <= largest_error;
}

}  // namespace

std::string minor_version(std::string_view version) {
  const std::size_t first = version.find('.');
  if (first == std::string_view::npos) return std::string(version);
  return std::string(version.substr(0, std::min(version.find_first_not_of("0123456789", first + 1), version.size())));
}

Calibration calibrate(const MeasuredRuns& measured) {
  std::map<std::pair<std::string, std::string>, Runs> by_card;
  for (const MeasuredRun& run : measured.runs) by_card[{run.card, minor_version(run.torch)}].push_back(&run);
  Calibration out{.left_out = measured.left_out, .torn = measured.torn};
  for (const auto& [key, runs] : by_card) {
    Unfitted unfitted{.card = key.first, .torch = key.second, .runs = static_cast<std::int64_t>(runs.size())};
    if (unfitted.runs < fewest_runs) {
      out.unfitted.push_back(std::move(unfitted));
      continue;
    }
    CardTerms terms = fitted(runs);
    terms.card = key.first;
    terms.torch = key.second;
    unfitted.error_before = terms.error_before;
    unfitted.error_left_out = terms.error_left_out;
    terms.contradict = terms.error_left_out > terms.error_before;
    if (terms.contradict) {
      terms.workspaces = terms.residue = Bytes();
      terms.slack = 0;
      terms.error_fitted = terms.error_before;
    }
    const bool none = terms.contradict && !terms.context;
    if (none || !within_limits(terms)) {
      unfitted.why = none ? WhyUnfitted::contradict : WhyUnfitted::beyond_limits;
      out.unfitted.push_back(std::move(unfitted));
    } else {
      out.cards.push_back(std::move(terms));
    }
  }
  return out;
}

}  // namespace oomplan
