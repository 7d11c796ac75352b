// A quantity of memory. Arithmetic saturates at the ends of the range instead of wrapping, so a hostile config
// cannot turn a huge size into a small one.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace oomplan {

/// a + b, a - b, a * b, held at the ends of the 64-bit range instead of wrapping.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}
constexpr std::int64_t saturating_sub(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_sub_overflow(a, b, &out)) return out;
  return b < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

/// n / step rounded up, for n >= 0 and step > 0.
constexpr std::int64_t divided_up(std::int64_t n, std::int64_t step) { return n / step + (n % step != 0 ? 1 : 0); }

/// Bytes of memory; signed so that a difference ("headroom") is a Bytes too.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  static constexpr Bytes kib(std::int64_t n) { return Bytes(saturating_mul(n, std::int64_t{1} << 10)); }
  static constexpr Bytes mib(std::int64_t n) { return Bytes(saturating_mul(n, std::int64_t{1} << 20)); }
  static constexpr Bytes gib(std::int64_t n) { return Bytes(saturating_mul(n, std::int64_t{1} << 30)); }
  static constexpr Bytes max() { return Bytes(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t count() const { return count_; }
  /// True once a sum or product ran out of range: the figure is a bound, not a size.
  constexpr bool saturated() const {
    return count_ == std::numeric_limits<std::int64_t>::max() || count_ == std::numeric_limits<std::int64_t>::min();
  }

  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(saturating_add(a.count_, b.count_)); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(saturating_sub(a.count_, b.count_)); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(saturating_mul(a.count_, n)); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return a * n; }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;

  /// Rounded up to a multiple of `step` (> 0).
  constexpr Bytes rounded_up(std::int64_t step) const {
    const std::int64_t over = count_ % step;
    return over > 0 ? *this + Bytes(step - over) : *this - Bytes(over);
  }

 private:
  std::int64_t count_ = 0;
};

}  // namespace oomplan
