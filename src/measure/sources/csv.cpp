// Comma- or tab-separated values; the first record names the columns. Blank lines are no rows.
#include <simdjson.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "../canonical.hpp"
#include "../cells.hpp"
#include "../source.hpp"
#include "../value_bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

struct Column {
  std::string name{};
  std::size_t cell = 0;
};

// A name twice, with its place and its cell, and what tells names apart.
constexpr std::int64_t of_column = 192;

/// Names that were there before get a number, as pandas gives them: a, a.1, a.2.
void tell_apart(std::vector<std::string>& names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  const std::unordered_set<std::string> given(names.begin(), names.end());
  std::unordered_map<std::string, std::int64_t> times;
  for (std::string& name : names) {
    const std::string as_given = name;
    for (std::int64_t count = times[name]; count > 0;) {
      times[as_given] = count + 1;
      name = as_given + "." + std::to_string(count);
      count = given.contains(name) ? count + 1 : times[name];
    }
    ++times[name];
  }
}

class Csv final : public RowSource {
 public:
  explicit Csv(Input input)
      : input_(std::move(input)), records_(std::move(input_.bytes), input_.path, input_.room.row, boundary_, 0) {}

  Result<bool> next(RowBatch& out) override {
    while (out.weight() < input_.room.batch) {
      const Result<std::optional<Record>> record = records_.next();
      if (!record) return record.errors();
      if (!*record) break;
      std::string_view text = (*record)->text;
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (text.empty() && (*record)->refused == nullptr) continue;
      if (Result<bool> added = begun_ ? add(**record, text, out) : begin(**record, text); !added) return added.errors();
    }
    return out.rows > 0;
  }

 private:
  Result<bool> begin(const Record& record, std::string_view text) {
    if (record.refused != nullptr) return *record.refused;
    begun_ = true;
    if (!simdjson::validate_utf8(text.data(), text.size())) return bad_file(input_.path, "the first line is not UTF-8");
    separator_ = std::count(text.begin(), text.end(), '\t') > std::count(text.begin(), text.end(), ',') ? '\t' : ',';
    const auto most = static_cast<std::size_t>(std::count(text.begin(), text.end(), separator_)) + 1;
    const std::int64_t needed =
        static_cast<std::int64_t>(most) * of_column + 2 * static_cast<std::int64_t>(text.size());
    if (needed > input_.room.schema)
      return over_budget({input_.path}, "a first line of " + counted(static_cast<std::int64_t>(most), "column"), needed,
                         input_.room.schema);
    cells_.reserve(most);
    width_ = split_cells(text, separator_, most, cells_, undone_);
    if (width_ == 0) return bad_file(input_.path, "the first line's quotes do not close");
    name_columns();
    return true;
  }

  void name_columns() {
    std::vector<std::string> names;
    for (const Cell& cell : cells_) names.emplace_back(cell.text);
    tell_apart(names);
    in_order_.reserve(width_);
    for (std::size_t i = 0; i < width_; ++i) {
      if (input_.key->takes(names[i])) in_order_.push_back({std::move(names[i]), i});
    }
    for (std::size_t i = 0; i < in_order_.size(); ++i) columns_.push_back(i);
    std::sort(columns_.begin(), columns_.end(),
              [&](std::size_t a, std::size_t b) { return in_order_[a].name < in_order_[b].name; });
  }

  std::string objection(std::string_view text) {
    if (!simdjson::validate_utf8(text.data(), text.size())) return "this is not UTF-8";
    const std::size_t cells = split_cells(text, separator_, width_, cells_, undone_);
    if (cells == width_) return {};
    if (cells == 0) return "its quotes do not close where a cell ends";
    return "it has " + counted(static_cast<std::int64_t>(cells), "cell") + ", and the first line " +
           std::to_string(width_);
  }

  Result<bool> add(const Record& record, std::string_view text, RowBatch& out) {
    if (record.end == '\0' && boundary_.within_quotes()) {
      return Diagnostic{.code = "read/truncated",
                        .message = "the file ends within quotes, in row " + with_separators(record.number) +
                                   ", which begins at byte " + with_separators(record.offset),
                        .where = {input_.path}};
    }
    if (record.refused != nullptr) return leave_out(input_.skip, *record.refused);
    if (const std::string why = objection(text); !why.empty())
      return leave_out(input_.skip, bad_row(input_.path, record.number, record.offset, why));
    out.add_row(static_cast<std::int64_t>(text.size()), input_.wanted);
    if (input_.wanted.canonical) put(out.canonical);
    if (input_.wanted.values) tell_row(out.values);
    return true;
  }

  void put(CanonicalRows& canonical) {
    ByteBuffer& row = canonical.open();
    begin_object(row);
    for (const std::size_t i : columns_) {
      const Column& column = in_order_[i];
      if (is_null(cells_[column.cell])) continue;
      put_name(row, column.name);
      put_cell(row, cells_[column.cell]);
    }
    end_object(row);
    canonical.close();
  }

  void tell_row(Texts& out) {
    ValueBytes values(out.open());
    values.begin_object();
    for (const Column& column : in_order_) {
      values.name(column.name);
      tell_cell(cells_[column.cell], values);
    }
    values.end_object();
    out.close();
  }

  Input input_;
  CellsBoundary boundary_;
  Records records_;
  bool begun_ = false;
  char separator_ = ',';
  std::size_t width_ = 0;
  std::vector<Column> in_order_{};      // those that count
  std::vector<std::size_t> columns_{};  // their places there, by name
  std::vector<Cell> cells_{};
  std::string undone_{};
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::csv(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<Csv>(std::move(input)));
}

}  // namespace oomplan::measure
