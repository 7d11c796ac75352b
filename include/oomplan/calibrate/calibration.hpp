// What cannot be known of a card and a version of PyTorch from outside, fitted from runs of it. Sizes are bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// The terms of one card under one version of PyTorch. None is negative: where runs took less than was predicted they
/// are 0.
struct CardTerms {
  std::string card{};              ///< As torch names it: "NVIDIA H100 80GB HBM3".
  std::string torch{};             ///< "2.11"
  std::int64_t runs = 0;           ///< That the terms are fitted from.
  std::optional<Bytes> context{};  ///< On the card beside PyTorch's pool; nothing where no run measured it.
  Bytes workspaces{};              ///< Allocated beyond what is predicted, in every run alike.
  Bytes residue{};                 ///< Reserved beyond what is predicted, in every run alike.
  double slack = 0;                ///< The same, as a part of the tensors that are predicted.
  bool contradict = false;    ///< In what is reserved its runs contradict one another, and only the context is fitted.
  double error_before = 0;    ///< Median error of the reserved peak, 0 to 1, as predicted.
  double error_fitted = 0;    ///< With the terms.
  double error_left_out = 0;  ///< With terms fitted from the other runs, each run left out once.

  /// What the allocator reserves beyond what is predicted of a run whose tensors take `peak`.
  Bytes beyond(Bytes peak) const {
    constexpr double most = 9e15;  // more than any card; a double holds each whole number below it
    return residue + Bytes(static_cast<std::int64_t>(std::min(slack * static_cast<double>(peak.count()), most)));
  }
};

/// The term of a run's memory that a calibration adds.
inline constexpr std::string_view calibrated_term = "calibrated";

enum class WhyUnfitted : std::uint8_t {
  too_few,
  contradict,    ///< Left out in turn, the runs are predicted worse with terms than without.
  beyond_limits  ///< Terms or errors are larger than read_calibration() takes.
};
inline constexpr std::array<std::string_view, 3> why_unfitted_names{"too_few", "contradict", "beyond_limits"};
constexpr std::string_view name_of(WhyUnfitted why) { return why_unfitted_names[static_cast<std::size_t>(why)]; }

/// A card whose runs make no terms.
struct Unfitted {
  std::string card{};
  std::string torch{};
  std::int64_t runs = 0;
  WhyUnfitted why = WhyUnfitted::too_few;
  double error_before = 0;
  double error_left_out = 0;
};

struct Calibration {
  std::vector<CardTerms> cards{};
  std::vector<Unfitted> unfitted{};
  std::int64_t left_out = 0;  ///< Runs of the file that say too little: no prediction, no card, nothing measured.
  bool torn = false;          ///< The file's last line broke off.
};

}  // namespace oomplan
