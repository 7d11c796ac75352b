#include "align.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace oomplan::comparing {
namespace {

constexpr std::int64_t most_compared = 200'000'000;  // what two hostile sequences may cost

/// The furthest index of `a` on each diagonal (index of a less index of b), after so many that are in one only.
class Greedy {
 public:
  Greedy(std::span<const std::int64_t> a, std::span<const std::int64_t> b, bool open_end)
      : a_(a), b_(b), open_end_(open_end) {}

  std::optional<Aligned> run(std::size_t most) {
    for (std::int64_t d = 0; d <= static_cast<std::int64_t>(most); ++d) {
      rounds_.emplace_back(static_cast<std::size_t>(d) + 1);
      for (std::int64_t k = -d; k <= d; k += 2) {
        if (compared_ > most_compared) return std::nullopt;
        const std::int64_t x = slide(from(d, k), k);
        at(d, k) = x;
        const bool ended = x >= size(a_) && (open_end_ || x - k >= size(b_));
        if (ended) return back(d, k);
      }
    }
    return std::nullopt;
  }

 private:
  static std::int64_t size(std::span<const std::int64_t> s) { return static_cast<std::int64_t>(s.size()); }
  /// A round has every second diagonal from -d to d.
  std::int64_t& at(std::int64_t d, std::int64_t k) {
    return rounds_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)];
  }
  /// Whether diagonal `k` of round `d` is come to by one more of `b`.
  bool by_b(std::int64_t d, std::int64_t k) { return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1)); }
  /// Where diagonal `k` begins in round `d`.
  std::int64_t from(std::int64_t d, std::int64_t k) {
    if (d == 0) return 0;
    return by_b(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
  }
  /// Past the ends nothing is equal; such a path goes on, and costs no less than one that stays within.
  std::int64_t slide(std::int64_t x, std::int64_t k) {
    const std::int64_t begin = x;
    while (x < size(a_) && x - k >= 0 && x - k < size(b_) &&
           a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)]) {
      ++x;
    }
    compared_ += x - begin;
    return x;
  }

  Aligned back(std::int64_t d, std::int64_t k) {
    Aligned out;
    for (; d >= 0; --d) {
      const std::int64_t begin = from(d, k);
      for (std::int64_t x = at(d, k); x > begin; --x)
        out.emplace_back(static_cast<std::size_t>(x - 1), static_cast<std::size_t>(x - 1 - k));
      if (d > 0) k += by_b(d, k) ? 1 : -1;
    }
    std::ranges::reverse(out);
    return out;
  }

  std::span<const std::int64_t> a_;
  std::span<const std::int64_t> b_;
  bool open_end_;
  std::int64_t compared_ = 0;
  std::vector<std::vector<std::int64_t>> rounds_{};
};

}  // namespace

std::optional<Aligned> align(std::span<const std::int64_t> a, std::span<const std::int64_t> b, bool open_end,
                             std::size_t most) {
  return Greedy(a, b, open_end).run(most);
}

Aligned align_by_count(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::map<std::int64_t, std::deque<std::size_t>> left;
  for (std::size_t i = 0; i < b.size(); ++i) left[b[i]].push_back(i);
  Aligned out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = left.find(a[i]);
    if (found == left.end() || found->second.empty()) continue;
    out.emplace_back(i, found->second.front());
    found->second.pop_front();
  }
  return out;
}

}  // namespace oomplan::comparing
