#include "least_squares.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace oomplan::calibrating {
namespace {

using Vector = std::vector<double>;

double product(const Vector& a, const Vector& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
}

/// A column less what the ones before it say of it; nothing where that is all of it.
constexpr double dependent = 1e-9;

/// Modified Gram-Schmidt over the columns chosen, then back substitution. Nothing where they depend on one another.
std::optional<Vector> solved(std::span<const Vector> columns, unsigned chosen, const Vector& y) {
  std::vector<std::size_t> of;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if ((chosen >> c & 1U) != 0) of.push_back(c);
  std::vector<Vector> q;
  std::vector<Vector> r;
  for (const std::size_t c : of) {
    Vector rest = columns[c];
    const double whole = std::sqrt(product(rest, rest));
    Vector row;
    for (const Vector& one : q) {
      row.push_back(product(one, rest));
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= row.back() * one[i];
    }
    const double left = std::sqrt(product(rest, rest));
    if (!(left > dependent * whole)) return std::nullopt;
    for (double& value : rest) value /= left;
    row.push_back(left);
    q.push_back(std::move(rest));
    r.push_back(std::move(row));
  }
  Vector out(columns.size());
  for (std::size_t k = of.size(); k-- > 0;) {
    double value = product(q[k], y);
    for (std::size_t later = k + 1; later < of.size(); ++later) value -= r[later][k] * out[of[later]];
    out[of[k]] = value / r[k][k];
  }
  return out;
}

double distance(std::span<const Vector> columns, const Vector& by, const Vector& y) {
  double out = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double left = y[i];
    for (std::size_t c = 0; c < columns.size(); ++c) left -= by[c] * columns[c][i];
    out += left * left;
  }
  return out;
}

}  // namespace

Vector non_negative(std::span<const Vector> columns, const Vector& y) {
  Vector best(columns.size());
  double least = distance(columns, best, y);
  for (unsigned chosen = 1; chosen < 1U << columns.size(); ++chosen) {
    const std::optional<Vector> found = solved(columns, chosen, y);
    if (!found) continue;
    bool sound = true;
    for (const double value : *found) sound = sound && std::isfinite(value) && value >= 0;
    const double now = sound ? distance(columns, *found, y) : std::numeric_limits<double>::infinity();
    if (!(now < least * (1 - 1e-12))) continue;
    least = now;
    best = *found;
  }
  return best;
}

}  // namespace oomplan::calibrating
