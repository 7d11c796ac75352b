#include "search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

namespace oomplan::advise {
namespace {

using Key = std::array<int, science_count + 1>;

Key key_of(const Cost& cost, bool speed_first) {
  const auto& [changes, numerics, statistics] = cost.science;
  if (speed_first) return {cost.slower, changes, numerics, statistics, cost.effort};
  return {changes, numerics, statistics, cost.slower, cost.effort};
}

/// A set that waits for its turn. Of equal costs the smaller set goes first, then the one earlier in the ladder.
struct Waiting {
  Key key{};
  Choices choices{};
  std::shared_ptr<const Moments> before{};  ///< Without the last fix taken.
  bool operator>(const Waiting& other) const {
    const auto places = [](const Choices& of) {
      std::vector<std::pair<int, int>> out;
      for (const Choice& choice : of) out.emplace_back(choice.rung, choice.times);
      return out;
    };
    return std::tuple(key, choices.size(), places(choices)) >
           std::tuple(other.key, other.choices.size(), places(other.choices));
  }
};

class Search {
 public:
  Search(const Wish& wish, const AdviceQuestion& question, const Ladder& ladder)
      : wish_(wish), question_(question), ladder_(ladder), judge_(question, ladder) {}

  Searched answer() && {
    push_after({}, wish_.stranded, std::make_shared<const Moments>(moments_of(question_.plan, question_.architecture)));
    while (!waiting_.empty() && !out_.found) {
      const bool asks = wish_.goes_on && out_.sets == wish_.first_sets && !std::exchange(asked_, true);
      if (out_.sets == wish_.most_sets || (asks && !wish_.goes_on())) {
        out_.whole = false;
        break;
      }
      const Waiting next = waiting_.top();
      waiting_.pop();
      look_at(next);
    }
    return std::move(out_);
  }

 private:
  const Rung& rung(int i) const { return ladder_.rungs()[static_cast<std::size_t>(i)]; }

  /// What cannot be taken takes all that go on from it along. What leaves too much for certain is not played.
  void look_at(const Waiting& one) {
    Moments left = left_by(rung(one.choices.back().rung), *one.before);
    if (judge_.is_too_much(left) || is_too_much_beside_one(one.choices)) {
      if (!can_be_taken(one.choices, question_, ladder_)) return;
      ++out_.sets;
      return go_on(one.choices, false, std::move(left));
    }
    Changing changing = change_by(one.choices, question_, ladder_);
    if (!changing.change) return;
    ++out_.sets;
    Judged judged = judge_.judged(one.choices, changing.change->plan);
    if (!judged.trial.fits) return go_on(one.choices, judged.trial.fragmentation, std::move(judged.moments));
    out_.found = FoundSet{one.choices, std::move(*changing.change), std::move(judged.trial)};
  }

  /// Whether what one fix of the set leaves, taken alone, is too much for the others.
  bool is_too_much_beside_one(const Choices& choices) {
    return std::ranges::any_of(choices, [&](const Choice& one) {
      Moments left = alone(one.rung);
      for (const Choice& other : choices)
        if (other.rung != one.rung || other.times > 1) left = left_by(rung(other.rung), std::move(left));
      return judge_.is_too_much(left);
    });
  }

  /// Empty where the fix cannot be taken alone.
  const Moments& alone(int i) {
    const auto [known, is_new] = alone_.try_emplace(i);
    if (!is_new) return known->second;
    const Choices choices{{i, 1}};
    const Changing changing = change_by(choices, question_, ladder_);
    if (changing.change) known->second = moments_of(changing.change->plan, question_.architecture);
    return known->second;
  }

  void go_on(const Choices& choices, bool stranded, Moments moments) {
    const auto held = std::make_shared<const Moments>(std::move(moments));
    push_after(choices, stranded, held);
    Choices again = choices;
    if (++again.back().times <= rung(again.back().rung).repeat) push(std::move(again), held);
  }

  void push(Choices choices, const std::shared_ptr<const Moments>& held) {
    const Key key = key_of(judge_.cost_of(choices), wish_.speed_first);
    if (wish_.below && key >= key_of(*wish_.below, wish_.speed_first)) return;
    waiting_.push({key, std::move(choices), held});
  }

  void push_after(const Choices& choices, bool stranded, const std::shared_ptr<const Moments>& held) {
    for (const int i : wish_.rungs) {
      if (!choices.empty() && i <= choices.back().rung) continue;
      if (rung(i).only_against_fragmentation && !stranded) continue;
      Choices more = choices;
      more.push_back({i, 1});
      push(std::move(more), held);
    }
  }

  const Wish& wish_;
  const AdviceQuestion& question_;
  const Ladder& ladder_;
  Judge judge_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_{};
  std::map<int, Moments> alone_{};  ///< By rung.
  bool asked_ = false;
  Searched out_{};
};

}  // namespace

Searched search(const Wish& wish, const AdviceQuestion& question, const Ladder& ladder) {
  return Search(wish, question, ladder).answer();
}

}  // namespace oomplan::advise
