// Text in columns: units, aligned tables, wrapped paragraphs, colour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::report {

inline constexpr std::size_t page_width = usual_width;

enum class Paint { plain, bold, dim, red, green };

/// `text` between the terminal's escape codes, or as it is without colour.
std::string painted(std::string text, Paint paint, bool colour);

/// The binary unit in which a whole table is written, so that its figures can be compared and added by eye.
struct Unit {
  std::string_view name{};
  double bytes = 1;
};
Unit unit_for(Bytes largest);

/// "13.73"; "-" for nothing at all.
std::string in_unit(Bytes bytes, const Unit& unit);

struct Cell {
  std::string text{};
  bool right = false;
  Paint paint = Paint::plain;
};
using Row = std::vector<Cell>;

/// Rows with each column as wide as its widest cell, two spaces apart and two from the left; no blanks at line ends.
std::string aligned(const std::vector<Row>& rows, bool colour);

/// The same at most `width` wide: what is wider goes on in further tables below, each with the first column again.
std::string aligned_within(const std::vector<Row>& rows, bool colour, std::size_t width);

/// The same with the last columns of each row on a line of their own below it, where they are wider.
std::string folded(const std::vector<Row>& rows, bool colour, std::size_t width);

/// `text` broken at blanks, at most `width` wide. It goes on at column `at` of the first line; later lines are indented
/// by `indent`.
std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t width = page_width);

/// Characters as a terminal shows them: UTF-8 sequences count one, escape codes of colour none.
std::size_t width_of(std::string_view text);

}  // namespace oomplan::report
