#include "search.hpp"

#include <array>
#include <functional>
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
    push_after({}, wish_.stranded);
    while (!waiting_.empty() && !out_.found) {
      if (out_.sets == wish_.most_sets) {
        out_.whole = false;
        break;
      }
      const Choices next = waiting_.top().choices;
      waiting_.pop();
      look_at(next);
    }
    return std::move(out_);
  }

 private:
  const Rung& rung(int i) const { return ladder_.rungs()[static_cast<std::size_t>(i)]; }

  /// What cannot be taken takes all that go on from it along.
  void look_at(const Choices& choices) {
    Changing changing = change_by(choices, question_, ladder_);
    if (!changing.change) return;
    ++out_.sets;
    Trial trial = judge_.judge(choices, changing.change->plan);
    if (trial.fits) {
      out_.found = FoundSet{choices, std::move(*changing.change), std::move(trial)};
      return;
    }
    push_after(choices, trial.fragmentation);
    Choices again = choices;
    if (++again.back().times <= rung(again.back().rung).repeat) push(std::move(again));
  }

  void push(Choices choices) {
    const Key key = key_of(judge_.cost_of(choices), wish_.speed_first);
    if (wish_.below && key >= key_of(*wish_.below, wish_.speed_first)) return;
    waiting_.push({key, std::move(choices)});
  }

  void push_after(const Choices& choices, bool stranded) {
    for (const int i : wish_.rungs) {
      if (!choices.empty() && i <= choices.back().rung) continue;
      if (rung(i).only_against_fragmentation && !stranded) continue;
      Choices more = choices;
      more.push_back({i, 1});
      push(std::move(more));
    }
  }

  const Wish& wish_;
  const AdviceQuestion& question_;
  const Ladder& ladder_;
  Judge judge_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_{};
  Searched out_{};
};

}  // namespace

Searched search(const Wish& wish, const AdviceQuestion& question, const Ladder& ladder) {
  return Search(wish, question, ladder).answer();
}

}  // namespace oomplan::advise
