// Arrow's decimals as digits. Its own text has an exponent where the number is small.
#pragma once

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <cstdint>
#include <string>

namespace oomplan::measure {

/// `digits` with a sign or not, times ten to the power of -scale: "-0.05", "1200".
inline std::string decimal_text(std::string digits, std::int32_t scale) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  if (scale < 0 && digits != "0") digits.append(static_cast<std::size_t>(-scale), '0');
  if (scale > 0) {
    const auto behind = static_cast<std::size_t>(scale);
    if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
    digits.insert(digits.size() - behind, 1, '.');
  }
  return negative ? "-" + digits : digits;
}

inline std::string decimal_text(const arrow::Decimal128Array& column, std::int64_t row) {
  const auto scale = static_cast<const arrow::DecimalType&>(*column.type()).scale();
  return decimal_text(arrow::Decimal128(column.GetValue(row)).ToIntegerString(), scale);
}
inline std::string decimal_text(const arrow::Decimal256Array& column, std::int64_t row) {
  const auto scale = static_cast<const arrow::DecimalType&>(*column.type()).scale();
  return decimal_text(arrow::Decimal256(column.GetValue(row)).ToIntegerString(), scale);
}

}  // namespace oomplan::measure
