#include "sample.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace oomplan::measure {
namespace {

/// How each draw's `above` and `below` come from a block.
using Count = std::function<double(const SampledBlock&)>;

Estimate ratio_of_blocks(const std::vector<SampledBlock>& blocks, const Count& above, const Count& below) {
  std::vector<Drawn> draws;
  for (const SampledBlock& block : blocks) {
    draws.insert(draws.end(), static_cast<std::size_t>(block.times),
                 {above(block) / block.bytes, below(block) / block.bytes});
  }
  return ratio_of(draws);
}

Estimate times(Estimate estimate, double factor) {
  estimate.value *= factor;
  estimate.low *= factor;
  if (estimate.high) *estimate.high *= factor;
  return estimate;
}

double rows_up_to(const SampledBlock& block, int bin) {
  double out = 0;
  for (const SizeSketch::Bin& b : block.bins) out += b.number <= bin ? static_cast<double>(b.count) : 0;
  return out;
}

class Sizes {
 public:
  explicit Sizes(const std::vector<SampledBlock>& blocks) : blocks_(blocks) {
    for (const SampledBlock& block : blocks) {
      for (const SizeSketch::Bin& bin : block.bins)
        weight_[bin.number] += static_cast<double>(bin.count) * static_cast<double>(block.times) / block.bytes;
    }
    for (const auto& [bin, weight] : weight_) all_ += weight;
  }

  /// The share of rows that are no longer is uncertain by so much, and with it the length (Woodruff 1952).
  Estimate quantile(double share) const {
    if (weight_.empty()) return {};
    const int bin = bin_at(share);
    const Estimate below = ratio_of_blocks(
        blocks_, [&](const SampledBlock& block) { return rows_up_to(block, bin); },
        [](const SampledBlock& block) { return block.rows; });
    const double error = below.value - below.low;
    Estimate out{std::sqrt(SizeSketch::least_in(bin) * SizeSketch::most_in(bin)),
                 share - error > 0 ? SizeSketch::least_in(bin_at(share - error)) : 0};
    if (share + error < 1) out.high = SizeSketch::most_in(bin_at(share + error));
    return out;
  }

 private:
  int bin_at(double share) const {
    double below = 0;
    for (const auto& [bin, weight] : weight_) {
      below += weight;
      if (below >= share * all_ * (1 - 1e-12)) return bin;
    }
    return weight_.rbegin()->first;
  }

  const std::vector<SampledBlock>& blocks_;
  std::map<int, double> weight_{};
  double all_ = 0;
};

}  // namespace

Sampled estimates_of(const std::vector<SampledBlock>& blocks, std::int64_t bytes, std::optional<std::int64_t> rows) {
  const Count rows_in = [](const SampledBlock& block) { return block.rows; };
  const Count decoded_in = [](const SampledBlock& block) { return block.decoded; };
  const Count bytes_in = [](const SampledBlock& block) { return block.bytes; };
  Sampled out{.blocks = static_cast<std::int64_t>(blocks.size()), .rows_known = rows.has_value()};
  for (const SampledBlock& block : blocks) out.draws += block.times;
  out.mean = ratio_of_blocks(blocks, decoded_in, rows_in);
  if (rows) {
    const auto known = static_cast<double>(*rows);
    out.rows = {known, known, known};
    out.decoded = times(out.mean, known);
  } else {
    out.rows = times(ratio_of_blocks(blocks, rows_in, bytes_in), static_cast<double>(bytes));
    out.decoded = times(ratio_of_blocks(blocks, decoded_in, bytes_in), static_cast<double>(bytes));
  }
  const Sizes sizes(blocks);
  out.p50 = sizes.quantile(0.5);
  out.p99 = sizes.quantile(0.99);
  return out;
}

Result<std::vector<std::pair<Block, std::int64_t>>> drawn_from(Blocks& blocks, std::int64_t draws, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(draws));
  __extension__ using Wide = unsigned __int128;
  for (std::int64_t& byte : bytes)
    byte = static_cast<std::int64_t>((Wide{random()} * static_cast<std::uint64_t>(blocks.bytes())) >> 64);
  std::sort(bytes.begin(), bytes.end());
  std::vector<std::pair<Block, std::int64_t>> out;
  for (const std::int64_t byte : bytes) {
    Result<Block> block = blocks.at(byte);
    if (!block) return block.errors();
    if (out.empty() || out.back().first != *block) out.emplace_back(std::move(*block), 0);
    ++out.back().second;
  }
  return out;
}

}  // namespace oomplan::measure
