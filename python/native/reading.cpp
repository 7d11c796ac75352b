#include "reading.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "errors.hpp"
#include "oomplan/text.hpp"

namespace oomplan::python {
namespace {

constexpr std::size_t most_told = 100;  // of skipped rows, at a time

Bytes size_of(const std::string& text) {
  const auto parsed = parse_bytes(text);
  if (!parsed) throw nb::value_error(("budget takes a size as 256MiB, not '" + text + "'").c_str());
  return *parsed;
}

Diagnostic too_large(std::int64_t row, std::int64_t limit) {
  return {.code = "measure/over-budget",
          .message = "row " + with_separators(row) + " of all takes more than " + to_text(Bytes(limit)) +
                     " as Python's objects, a quarter of the budget",
          .hint = "a larger budget reads it"};
}

}  // namespace

Alone::Alone(std::atomic<bool>& busy) : busy_(busy) {
  if (busy_.exchange(true)) throw std::runtime_error("another thread reads from this already");
}

Reading::Reading(const Settings& settings, const std::optional<std::vector<std::string>>& key)
    : budget_(size_of(settings.budget)) {
  measure::ReadOptions options{.budget = budget_, .format = settings.format, .skip_bad = settings.skip_bad};
  options.on_skip = [this](const Diagnostic& error) {
    if (skipped_.size() < most_told) skipped_.push_back(error);
  };
  Result<measure::RowReader> opened = key ? measure::RowReader::of_hashes(settings.paths, options, *key)
                                          : measure::RowReader::of_values(settings.paths, options);
  if (!opened) raise(opened.errors());
  rows_.emplace(std::move(*opened));
}

bool Reading::next() {
  Result<bool> more = false;
  {
    const nb::gil_scoped_release unlocked;
    more = rows_->next();
  }
  tell_skipped();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!more) raise(more.errors());
  return *more;
}

void Reading::tell_skipped() {
  for (const Diagnostic& error : std::exchange(skipped_, {})) warn(error);
}

/// Whether there are more rows, where the columns did not take `count`.
bool ValueReader::fill(Columns& columns, std::int64_t count) {
  while (columns.rows() < count) {
    if (row_ == reading_.rows().rows()) {
      row_ = 0;
      if (!reading_.next()) return false;
    }
    if (columns.add(reading_.rows(), row_) == Columns::Added::full) break;
    ++row_, ++read_;
  }
  return true;
}

nb::object ValueReader::next(std::int64_t count) {
  const Alone alone(busy_);
  if (error_) throw *std::exchange(error_, std::nullopt);
  // Half of the budget is for two batches of objects: the one that the program has, and the next.
  const std::int64_t limit = reading_.budget().count() / 4;
  Columns columns(limit, names_);
  try {
    const bool more = fill(columns, count);
    if (more && columns.rows() == 0) raise({too_large(read_ + 1, limit)});
  } catch (nb::python_error& error) {
    if (columns.rows() == 0) throw;
    error_.emplace(std::move(error));
  }
  return columns.rows() == 0 ? nb::none() : nb::object(columns.take());
}

nb::object HashReader::next() {
  const Alone alone(busy_);
  if (!reading_.next()) return nb::none();
  const std::vector<measure::RowHash> hashes = reading_.rows().hashes();
  std::string out;
  out.reserve(16 * hashes.size());
  for (const measure::RowHash& hash : hashes) {
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(hash.high >> shift);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(hash.low >> shift);
  }
  const std::vector<std::int64_t>& sizes = reading_.rows().sizes();
  return nb::make_tuple(nb::bytes(out.data(), out.size()), nb::bytes(sizes.data(), 8 * sizes.size()));
}

}  // namespace oomplan::python
