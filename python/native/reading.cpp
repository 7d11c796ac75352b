#include "reading.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "errors.hpp"
#include "oomplan/core/text.hpp"

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
    skipped_.size() < most_told ? skipped_.push_back(error) : void(++more_skipped_);
  };
  Result<measure::RowReader> opened = key ? measure::RowReader::of_hashes(settings.paths, options, *key)
                                          : measure::RowReader::of_values(settings.paths, options);
  if (!opened) raise(opened.errors());
  rows_.emplace(std::move(*opened));
}

Result<bool> Reading::next() {
  Result<bool> more = false;
  {
    const nb::gil_scoped_release unlocked;
    more = rows_->next();
  }
  tell_skipped();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return more;
}

void Reading::tell_skipped() {
  const std::int64_t more = std::exchange(more_skipped_, 0);
  for (const Diagnostic& error : std::exchange(skipped_, {})) warn(error);
  if (more > 0) warn_of_more(more);
}

/// Adds the current row. One that has no object waits for the next call, behind the rows before it.
bool ValueReader::add(Columns& columns) {
  try {
    return columns.add(reading_.rows(), row_) == Columns::Added::yes;
  } catch (const nb::python_error& error) {
    const bool of_the_row = error.matches(PyExc_ValueError) || error.matches(PyExc_OverflowError);
    if (columns.rows() == 0 || !of_the_row) throw;
    return false;
  }
}

/// Whether there are more rows, where the columns did not take `count`.
Result<bool> ValueReader::fill(Columns& columns, std::int64_t count) {
  while (columns.rows() < count) {
    if (row_ == reading_.rows().rows()) {
      row_ = 0;
      if (Result<bool> more = reading_.next(); !more || !*more) return more;
    }
    if (!add(columns)) break;
    ++row_, ++read_;
  }
  return true;
}

nb::object ValueReader::next(std::int64_t count) {
  const Alone alone(busy_);
  if (!errors_.empty()) raise(std::exchange(errors_, {}));
  // Half of the budget is for two batches of objects: the one that the program has, and the next.
  const std::int64_t limit = reading_.budget().count() / 4;
  Columns columns(limit, names_);
  const Result<bool> more = fill(columns, count);
  if (columns.rows() > 0) {
    if (!more) errors_ = more.errors();
    return columns.take();
  }
  if (!more) raise(more.errors());
  if (*more) raise({too_large(read_ + 1, limit)});
  return nb::none();
}

nb::object HashReader::next() {
  const Alone alone(busy_);
  const Result<bool> more = reading_.next();
  if (!more) raise(more.errors());
  if (!*more) return nb::none();
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
