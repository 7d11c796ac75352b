// Comma- or tab-separated values; the first record names the columns. Blank lines are no rows.
#include <simdjson.h>

#include <algorithm>

#include "../canonical.hpp"
#include "../cells.hpp"
#include "../source.hpp"
#include "../value_bytes.hpp"
#include "oomplan/text.hpp"

namespace oomplan::measure {
namespace {

struct Column {
  std::string name{};
  std::size_t cell = 0;
};

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
    separator_ = std::count(text.begin(), text.end(), '\t') > std::count(text.begin(), text.end(), ',') ? '\t' : ',';
    if (!split_cells(text, separator_, cells_, undone_))
      return bad_file(input_.path, "the first line's quotes do not close");
    for (const Cell& cell : cells_) {
      if (!cell.quoted && cell.text.find('\r') != std::string_view::npos)
        return bad_file(input_.path, "its lines end in a carriage return alone, so that all of it is one line");
    }
    width_ = cells_.size();
    for (std::size_t i = 0; i < width_; ++i) {
      if (input_.key->takes(cells_[i].text)) columns_.push_back({std::string(cells_[i].text), i});
    }
    in_order_ = columns_;
    std::stable_sort(columns_.begin(), columns_.end(),
                     [](const Column& a, const Column& b) { return a.name < b.name; });
    const auto twin = std::adjacent_find(columns_.begin(), columns_.end(),
                                         [](const Column& a, const Column& b) { return a.name == b.name; });
    if (twin != columns_.end()) return bad_file(input_.path, "two columns have the name '" + twin->name + "'");
    return true;
  }

  std::string objection(std::string_view text) {
    if (!simdjson::validate_utf8(text.data(), text.size())) return "this is not UTF-8";
    if (!split_cells(text, separator_, cells_, undone_)) return "its quotes do not close where a cell ends";
    if (cells_.size() == width_) return {};
    return "it has " + counted(static_cast<std::int64_t>(cells_.size()), "cell") + ", and the first line " +
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
    for (const Column& column : columns_) {
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
  std::vector<Column> columns_{};   // that count, by name
  std::vector<Column> in_order_{};  // the same as the file has them
  std::vector<Cell> cells_{};
  std::string undone_{};
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::csv(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<Csv>(std::move(input)));
}

}  // namespace oomplan::measure
