#include "descent.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace oomplan::advise {
namespace {

/// What the phases hold, the fullest first: where two are equally full, each has a fix of its own.
std::vector<Bytes> heights(const Moments& moments) {
  std::vector<Bytes> out;
  for (const ByBucket& moment : moments.held) out.push_back(fullest({.held = {moment}}));
  std::ranges::sort(out, std::greater<>());
  return out;
}

class Descent {
 public:
  Descent(const std::vector<int>& rungs, const AdviceQuestion& question, const Ladder& ladder)
      : rungs_(rungs), question_(question), ladder_(ladder), judge_(question, ladder) {}

  std::optional<FoundSet> answer() && {
    lowest_ = heights(moments_of(question_.plan, question_.architecture));
    while (!fits() && go_down()) {
    }
    if (set_) let_go();
    return std::move(set_);
  }

 private:
  bool fits() const { return set_ && set_->trial.fits; }

  const Rung& rung(int i) const { return ladder_.rungs()[static_cast<std::size_t>(i)]; }

  Choices taken() const { return set_ ? set_->choices : Choices{}; }

  /// With `i` once more; nothing where that is not to be had.
  std::optional<Choices> with(int i) const {
    Choices out = taken();
    const auto at = std::ranges::lower_bound(out, i, {}, &Choice::rung);
    if (at == out.end() || at->rung != i) {
      out.insert(at, {i, 1});
    } else if (++at->times > rung(i).repeat) {
      return std::nullopt;
    }
    return out;
  }

  bool go_down() {
    bool lower = false;
    const Choices from = taken();
    std::optional<FoundSet> best;
    for (const int i : rungs_) {
      const std::optional<Choices> choices = with(i);
      if (!choices) continue;
      Changing changing = change_by(*choices, question_, ladder_);
      if (!changing.change) continue;
      Judged judged = judge_.judged(*choices, changing.change->plan);
      if (!judged.trial.undecided.empty()) continue;
      std::vector<Bytes> left = heights(judged.moments);
      if (!is_better(best, judged.trial, left)) continue;
      lowest_ = std::move(left);
      best = FoundSet{*choices, std::move(*changing.change), std::move(judged.trial)};
      lower = true;
    }
    if (lower) set_ = std::move(best);
    return lower;
  }

  /// What fits is better than what does not, and of these the cheaper.
  bool is_better(const std::optional<FoundSet>& best, const Trial& trial, const std::vector<Bytes>& left) const {
    const bool best_fits = best && best->trial.fits;
    if (trial.fits != best_fits) return trial.fits;
    if (trial.fits) return trial.cost < best->trial.cost;
    return left < lowest_ || (best && left == lowest_ && trial.cost < best->trial.cost);
  }

  void let_go() {
    Choices order = set_->choices;
    std::ranges::sort(order, std::greater<>(), [&](const Choice& one) { return judge_.cost_of({one}); });
    for (const Choice& one : order) {
      while (try_without(one.rung)) {
      }
    }
  }

  /// Whether the set with one less of `i` still fits, or where none does is hardly fuller; then it is the set.
  bool try_without(int i) {
    Choices less = set_->choices;
    const auto at = std::ranges::find(less, i, &Choice::rung);
    if (at == less.end()) return false;
    if (--at->times == 0) less.erase(at);
    if (less.empty()) return false;
    Changing changing = change_by(less, question_, ladder_);
    if (!changing.change) return false;
    Judged judged = judge_.judged(less, changing.change->plan);
    const Bytes about_lowest = lowest_.front() + Bytes(lowest_.front().count() / worth_a_line);
    const bool as_good =
        fits() ? judged.trial.fits : judged.trial.undecided.empty() && fullest(judged.moments) <= about_lowest;
    if (!as_good) return false;
    set_ = FoundSet{std::move(less), std::move(*changing.change), std::move(judged.trial)};
    return true;
  }

  const std::vector<int>& rungs_;
  const AdviceQuestion& question_;
  const Ladder& ladder_;
  Judge judge_;
  std::vector<Bytes> lowest_{};  ///< Of the best set so far.
  std::optional<FoundSet> set_{};
};

}  // namespace

std::optional<FoundSet> descend(const std::vector<int>& rungs, const AdviceQuestion& question, const Ladder& ladder) {
  return Descent(rungs, question, ladder).answer();
}

}  // namespace oomplan::advise
