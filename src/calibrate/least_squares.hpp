// Least squares with coefficients that are not negative.
#pragma once

#include <span>
#include <vector>

namespace oomplan::calibrating {

/// The coefficients of `columns`, all as long as `y`, with which their sum is nearest to `y`. With few columns each
/// choice of those that are not zero is tried, so that the answer is exact (C. L. Lawson and R. J. Hanson, Solving
/// Least Squares Problems, 1974, chapter 23, finds the same choice by search). Of columns that depend on one another
/// the first take part. At most 8 columns.
std::vector<double> non_negative(std::span<const std::vector<double>> columns, const std::vector<double>& y);

}  // namespace oomplan::calibrating
