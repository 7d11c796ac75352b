#include "size_sketch.hpp"

#include <algorithm>
#include <cmath>

#include "oomplan/core/bytes.hpp"

namespace oomplan::measure {
namespace {

const double step = std::log(1.02);

/// Bin 0 holds empty rows alone.
std::size_t bin_of(std::int64_t size) {
  return size < 1 ? 0 : 1 + static_cast<std::size_t>(std::log(static_cast<double>(size)) / step);
}

}  // namespace

void SizeSketch::add(std::int64_t size) {
  ++bins_[std::min(bin_of(size), bins_.size() - 1)];
  ++count_;
  sum_ = saturating_add(sum_, size);
  longest_ = std::max(longest_, size);
}

void SizeSketch::add(const SizeSketch& more) {
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) bins_[bin] += more.bins_[bin];
  count_ += more.count_;
  sum_ = saturating_add(sum_, more.sum_);
  longest_ = std::max(longest_, more.longest_);
}

std::int64_t SizeSketch::quantile(double share) const {
  const auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
  std::int64_t below = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    below += bins_[bin];
    if (below < std::max<std::int64_t>(rank, 1)) continue;
    if (bin == 0) return 0;
    const double middle = std::exp((static_cast<double>(bin) - 0.5) * step);
    return std::clamp<std::int64_t>(std::llround(middle), 1, longest_);
  }
  return 0;
}

std::vector<SizeSketch::Bin> SizeSketch::bins() const {
  std::vector<Bin> out;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    if (bins_[bin] > 0) out.push_back({static_cast<int>(bin), bins_[bin]});
  }
  return out;
}

double SizeSketch::least_in(int bin) { return bin == 0 ? 0 : std::exp((bin - 1) * step); }

RowSizes SizeSketch::sizes() const {
  return {count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0, quantile(0.5), quantile(0.99),
          longest_};
}

}  // namespace oomplan::measure
