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

double mean_or_zero(const Column& y) {
  return calibrating::non_negative(std::vector<Column>{Column(y.size(), 1.0)}, y).front();
}

CardTerms fitted(const Runs& runs) {
  CardTerms out{.runs = static_cast<std::int64_t>(runs.size())};
  out.workspaces = bytes_of(mean_or_zero(
      column_of(runs, [](const MeasuredRun& run) { return of(run.allocated - run.predicted_allocated); })));
  const std::vector<Column> columns{
      Column(runs.size(), 1.0), column_of(runs, [](const MeasuredRun& run) { return of(run.predicted_allocated); })};
  const Column slack = column_of(runs, [](const MeasuredRun& run) {
    return of((run.reserved - run.allocated) - (run.predicted_reserved - run.predicted_allocated));
  });
  const std::vector<double> found = calibrating::non_negative(columns, slack);
  out.residue = bytes_of(found[0]);
  out.slack = found[1];
  Column beside;
  for (const MeasuredRun* run : runs)
    if (run->beside) beside.push_back(of(*run->beside));
  if (!beside.empty()) out.context = bytes_of(mean_or_zero(beside));
  return out;
}

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
double left_out_error(const Runs& runs) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Runs others = runs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    errors.push_back(with_terms(*runs[i], fitted(others)));
  }
  return median(std::move(errors));
}

CardTerms with_errors(const Runs& runs) {
  CardTerms out = fitted(runs);
  out.error_before = median(column_of(runs, [](const MeasuredRun& run) { return error(run, run.predicted_reserved); }));
  out.error_fitted = median(column_of(runs, [&](const MeasuredRun& run) { return with_terms(run, out); }));
  out.error_left_out = left_out_error(runs);
  return out;
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
  Calibration out{.left_out = measured.left_out};
  for (const auto& [key, runs] : by_card) {
    const auto count = static_cast<std::int64_t>(runs.size());
    if (count < fewest_runs) {
      out.unfitted.push_back({key.first, key.second, count, false, 0, 0});
      continue;
    }
    CardTerms terms = with_errors(runs);
    terms.card = key.first;
    terms.torch = key.second;
    terms.contradict = terms.error_left_out > terms.error_before;
    if (terms.contradict) {
      terms.workspaces = terms.residue = Bytes();
      terms.slack = 0;
      terms.error_fitted = terms.error_before;
    }
    if (terms.contradict && !terms.context) {
      out.unfitted.push_back({key.first, key.second, count, true, terms.error_before, terms.error_left_out});
    } else {
      out.cards.push_back(std::move(terms));
    }
  }
  return out;
}

}  // namespace oomplan
