#include "lined_up.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "align.hpp"
#include "moments.hpp"

namespace oomplan::comparing {
namespace {

// A run without phases that is this much longer than the prediction has further steps.
constexpr std::size_t longer = 5;  // a fifth

/// An allocation is its size, a free its negative.
std::vector<std::int64_t> symbols_of(const Side& side, const std::vector<std::uint32_t>& moves) {
  std::vector<std::int64_t> out;
  out.reserve(moves.size());
  for (const std::uint32_t i : moves) {
    const std::int64_t bytes = side.tensors[side.moves[i].tensor].bytes;
    out.push_back(side.moves[i].allocates ? bytes : -bytes);
  }
  return out;
}

std::vector<std::uint32_t> all_of(const Side& side) {
  std::vector<std::uint32_t> out(side.moves.size());
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

/// What the prediction has behind the end of the snapshot is no difference. `until`: so many moves are before it at
/// least.
void end_with_the_snapshot(LinedUp& lined_up, std::uint32_t until) {
  for (const Piece& piece : lined_up.pieces)
    if (!piece.same.empty()) until = std::max(until, piece.predicted[piece.same.back().first] + 1);
  for (Piece& piece : lined_up.pieces)
    piece.predicted.erase(std::ranges::lower_bound(piece.predicted, until), piece.predicted.end());
  lined_up.until = until;
}

std::optional<Aligned> swapped(std::optional<Aligned> pairs) {
  if (pairs) {
    for (auto& [a, b] : *pairs) std::swap(a, b);
  }
  return pairs;
}

/// Else the prediction is of another run, and says nothing of where this one ends.
bool is_matched(const Piece& piece) { return 2 * piece.same.size() >= piece.observed.size(); }
bool is_short(const Piece& piece) { return 2 * piece.observed.size() < piece.predicted.size(); }

/// `b` may end before `a`. Where that would match less than half of it, it is another run: both are taken as whole.
std::optional<Aligned> align_what_may_end(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  if (b.size() < a.size()) {
    auto open = swapped(align(b, a, true));
    if (open && 2 * open->size() >= b.size()) return open;
  }
  return align(a, b);
}

LinedUp by_order(const Side& predicted, const Side& observed) {
  LinedUp out{.until = predicted.moves.size()};
  Piece piece{.predicted = all_of(predicted), .observed = all_of(observed)};
  const auto a = symbols_of(predicted, piece.predicted);
  const auto b = symbols_of(observed, piece.observed);
  const bool goes_on = b.size() > a.size() + a.size() / longer;
  auto same = goes_on ? align(a, b, true) : align_what_may_end(a, b);
  if (!same) {
    out.undecided = "its allocations have no frames, and come in an order too different from the prediction's";
    return out;
  }
  piece.same = std::move(*same);
  if (goes_on) {
    out.undecided = "its allocations have no frames; those after the prediction's two steps were not lined up";
    piece.observed.resize(piece.same.empty() ? 0 : piece.same.back().second + 1);
  }
  out.pieces.push_back(std::move(piece));
  if (!goes_on && is_matched(out.pieces.back())) end_with_the_snapshot(out, 0);
  return out;
}

/// The pieces in order of the prediction, those that it has not behind them.
class ByPhase {
 public:
  ByPhase(const Side& predicted, const Side& observed, bool coarsely, int after_step)
      : predicted_(predicted), observed_(observed), coarsely_(coarsely), after_step_(after_step) {}

  LinedUp run() {
    add(predicted_, &Piece::predicted);
    last_ = 0;
    for (const auto& [key, i] : index_) last_ = std::max(last_, key.second);
    add(observed_, &Piece::observed);
    out_.until = predicted_.moves.size();
    const auto last = std::ranges::find_if(out_.pieces, [&](const Piece& piece) { return is_last(piece); });
    if (last != out_.pieces.end()) pair(*last, true);
    const std::uint32_t end = last != out_.pieces.end() ? end_of(*last) : no_move;
    for (auto piece = out_.pieces.begin(); piece != out_.pieces.end(); ++piece)
      if (piece != last) pair(*piece, !piece->predicted.empty() && piece->predicted.back() > end);
    const bool ends = last != out_.pieces.end() && (is_matched(*last) || is_short(*last));
    if (ends && end != no_move) end_with_the_snapshot(out_, end + 1);
    return std::move(out_);
  }

 private:
  void add(const Side& side, std::vector<std::uint32_t> Piece::*to) {
    for (std::uint32_t i = 0; i < side.moves.size(); ++i) {
      if (!side.moves[i].at) continue;
      const PhaseOfStep at = coarsely_ ? coarse(*side.moves[i].at) : *side.moves[i].at;
      if (at.step <= after_step_ || at.step > last_) continue;
      const auto [found, fresh] = index_.try_emplace({static_cast<int>(at.phase), at.step}, out_.pieces.size());
      if (fresh) out_.pieces.push_back({.at = at});
      (out_.pieces[found->second].*to).push_back(i);
    }
  }

  /// Whether the snapshot ends within it.
  bool is_last(const Piece& piece) const {
    return !piece.observed.empty() && piece.observed.back() + 1 == observed_.moves.size();
  }

  /// Which predicted move the snapshot's last piece comes to at least.
  static std::uint32_t end_of(const Piece& piece) {
    if (!piece.same.empty()) return piece.predicted[piece.same.back().first];
    return piece.predicted.empty() ? no_move : piece.predicted.front();
  }

  void pair(Piece& piece, bool may_end) const {
    const auto a = symbols_of(predicted_, piece.predicted);
    const auto b = symbols_of(observed_, piece.observed);
    auto same = may_end ? align_what_may_end(a, b) : align(a, b);
    piece.in_order = same.has_value();
    piece.same = same ? std::move(*same) : align_by_count(a, b);
  }

  const Side& predicted_;
  const Side& observed_;
  bool coarsely_;
  int after_step_;
  int last_ = std::numeric_limits<int>::max();
  std::map<std::pair<int, int>, std::size_t> index_{};
  LinedUp out_{};
};

/// The last step that may be there in part only; -1 where none is.
int step_in_part(const Side& observed, bool cut) {
  if (!cut) return -1;
  const auto first = std::ranges::find_if(observed.moves, [](const Move& move) { return move.at.has_value(); });
  return first == observed.moves.end() ? -1 : first->at->step;
}

}  // namespace

LinedUp line_up(const Side& predicted, const Side& observed, ToldBy& by, bool cut) {
  if (observed.moves.empty()) return {.until = predicted.moves.size()};
  if (by == ToldBy::nothing && !cut) {
    LinedUp out = by_order(predicted, observed);
    if (!out.pieces.empty()) by = ToldBy::order;
    return out;
  }
  if (by == ToldBy::nothing)
    return {.undecided = "its trace begins within the run, and its allocations have no frames that say where",
            .until = predicted.moves.size()};
  const int in_part = step_in_part(observed, cut);
  LinedUp out = ByPhase(predicted, observed, by == ToldBy::frames, in_part).run();
  const auto seen = [](const Piece& piece) { return !piece.observed.empty(); };
  while (!out.pieces.empty() && !seen(out.pieces.back())) out.pieces.pop_back();  // the snapshot ends before them
  if (out.pieces.empty()) {
    return {.undecided = cut ? "its trace begins within a step, and has no whole one after it that the prediction plays"
                             : "it has no step that its frames tell",
            .until = predicted.moves.size()};
  }
  if (std::ranges::any_of(out.pieces, [](const Piece& piece) { return !piece.in_order; }))
    out.undecided = "where the order differs too much, tensors were counted by their size";
  return out;
}

}  // namespace oomplan::comparing
