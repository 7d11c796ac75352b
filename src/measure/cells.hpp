// Records of comma- or tab-separated values, as RFC 4180 has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "byte_buffer.hpp"
#include "oomplan/measure/values.hpp"
#include "records.hpp"

namespace oomplan::measure {

/// A line end outside of quotes: \n, \r\n, or \r alone. Of \r\n it is the \n, so that the \r is the record's last byte.
class CellsBoundary final : public Boundary {
 public:
  void reset() override {
    quoted_ = returned_ = false;
    closed_ = none;
  }
  std::size_t end_of(std::string_view text, std::size_t from) override;
  /// Whether the text that was looked at ends there.
  bool within_quotes() const { return quoted_; }
  void drop(std::size_t count) override {
    if (closed_ != none) closed_ = closed_ < count ? none : closed_ - count;
  }

 private:
  static constexpr std::size_t none = std::string_view::npos - 1;
  bool quoted_ = false;
  bool returned_ = false;      // a \r is the last byte that was looked at
  std::size_t closed_ = none;  // the last quote that closed a cell, if nothing else did
};

struct Cell {
  std::string_view text{};
  bool quoted = false;
};

/// The cells of one record, of which `most` are kept; quotes are undone in `undone`, which they may point into. How
/// many there are; 0 where a quote is not closed or something follows a closed one.
std::size_t split_cells(std::string_view record, char separator, std::size_t most, std::vector<Cell>& cells,
                        std::string& undone);

/// Nothing for an empty one, numbers as JSON writes them, true and false; in quotes, and all others, text.
using CellValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string_view>;
CellValue value_of(const Cell& cell);

/// A cell in the canonical form.
void put_cell(ByteBuffer& out, const Cell& cell);
/// The same as a value.
void tell_cell(const Cell& cell, Values& values);
inline bool is_null(const Cell& cell) { return !cell.quoted && cell.text.empty(); }

}  // namespace oomplan::measure
