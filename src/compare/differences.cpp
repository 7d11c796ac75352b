#include "differences.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace oomplan::comparing {
namespace {

constexpr std::size_t most_frames = 8;

struct Gap {
  std::vector<std::uint32_t> predicted{};
  std::vector<std::uint32_t> observed{};
};

/// What lies before, between and behind the moves that are the same; where only sizes were counted, one for all.
std::vector<Gap> gaps_of(const Piece& piece) {
  std::vector<bool> a(piece.predicted.size());
  std::vector<bool> b(piece.observed.size());
  for (const auto& [i, j] : piece.same) a[i] = b[j] = true;
  std::vector<Gap> out(piece.in_order ? piece.same.size() + 1 : 1);
  const auto add = [&](const std::vector<bool>& same, const std::vector<std::uint32_t>& moves,
                       std::vector<std::uint32_t> Gap::*to) {
    std::size_t gap = 0;
    for (std::size_t i = 0; i < same.size(); ++i) {
      if (!same[i]) (out[gap].*to).push_back(moves[i]);
      if (same[i] && piece.in_order) ++gap;
    }
  };
  add(a, piece.predicted, &Gap::predicted);
  add(b, piece.observed, &Gap::observed);
  return out;
}

/// Piece after piece, gap after gap.
class Finder {
 public:
  Finder(const Runs& runs, const LinedUp& lined_up)
      : runs_(runs), lined_up_(lined_up), partner_(partners(runs, lined_up)), times_(runs.observed.moves.size()) {
    for (const auto& one : partner_)
      if (one) partnered_.insert(*one);
    set_times();
    count_held();
  }

  std::vector<Difference> run() {
    std::vector<std::vector<Gap>> gaps;
    for (const Piece& piece : lined_up_.pieces) gaps.push_back(gaps_of(piece));
    const auto each = [&](const auto& visit) {
      for (std::size_t p = 0; p < gaps.size(); ++p) {
        piece_ = &lined_up_.pieces[p];
        for (const Gap& gap : gaps[p]) visit(gap);
      }
    };
    each([&](const Gap& gap) { note_frees(gap); });
    for (auto& [size, moves] : freed_) std::ranges::sort(moves);
    each([&](const Gap& gap) {
      add_allocations(gap);
      if (piece_->in_order) add_frees(gap);
    });
    std::ranges::stable_sort(out_, {}, &Timed::time);
    std::vector<Difference> out;
    for (Timed& one : out_) out.push_back(std::move(one.difference));
    return out;
  }

 private:
  using Moves = std::vector<std::uint32_t>;
  struct Timed {
    std::uint32_t time = 0;
    Difference difference{};
  };

  /// An observed move's time is the predicted move that the latest before it is the same as, or it itself.
  void set_times() {
    std::vector<std::optional<std::uint32_t>> same(times_.size());
    for (const Piece& piece : lined_up_.pieces)
      for (const auto& [i, j] : piece.same) same[piece.observed[j]] = piece.predicted[i];
    std::uint32_t latest = 0;
    for (std::size_t j = 0; j < times_.size(); ++j) times_[j] = latest = same[j].value_or(latest);
  }

  const Move& of_predicted(std::uint32_t i) const { return runs_.predicted.moves[i]; }
  const Move& of_observed(std::uint32_t j) const { return runs_.observed.moves[j]; }
  std::int64_t size_of_predicted(std::uint32_t i) const {
    return runs_.predicted.tensors[of_predicted(i).tensor].bytes;
  }
  std::int64_t size_of_observed(std::uint32_t j) const { return runs_.observed.tensors[of_observed(j).tensor].bytes; }

  /// What one of both makes in place of another: the n-th that both make between the same two.
  void add_allocations(const Gap& gap) {
    Moves made;
    Moves seen;
    for (const std::uint32_t i : gap.predicted)
      if (of_predicted(i).allocates) made.push_back(i);
    for (const std::uint32_t j : gap.observed)
      if (of_observed(j).allocates) seen.push_back(j);
    const std::size_t both = piece_->in_order ? std::min(made.size(), seen.size()) : 0;
    for (std::size_t n = 0; n < both; ++n) add(DifferenceKind::other_size, made[n], seen[n]);
    for (std::size_t n = both; n < made.size(); ++n) add(DifferenceKind::only_predicted, made[n], {});
    for (std::size_t n = both; n < seen.size(); ++n) add(DifferenceKind::only_observed, {}, seen[n]);
  }

  bool is_shared_free_of_predicted(std::uint32_t i) const {
    return !of_predicted(i).allocates && partnered_.contains(of_predicted(i).tensor);
  }
  bool is_shared_free_of_observed(std::uint32_t j) const {
    const Move& move = of_observed(j);
    return !move.allocates && (partner_[move.tensor] || runs_.observed.tensors[move.tensor].entry == 0);
  }

  void note_frees(const Gap& gap) {
    if (!piece_->in_order) return;  // where only sizes are counted, so are frees of what was made twice
    for (const std::uint32_t j : gap.observed)
      if (is_shared_free_of_observed(j)) freed_[size_of_observed(j)].push_back(j);
  }

  /// Of the tensors of that size which the prediction frees and the snapshot never does, each stands for one.
  bool is_held_to_the_end(std::uint32_t i) {
    std::int64_t& left = held_[size_of_predicted(i)];
    return left > 0 && left-- > 0;
  }

  void count_held() {
    std::vector<bool> freed(runs_.predicted.tensors.size());
    for (const Piece& piece : lined_up_.pieces)
      for (const std::uint32_t i : piece.predicted)
        if (!of_predicted(i).allocates) freed[of_predicted(i).tensor] = true;
    for (const std::uint32_t tensor : live_after(runs_.observed, runs_.observed.moves.size()))
      if (partner_[tensor] && freed[*partner_[tensor]]) ++held_[runs_.observed.tensors[tensor].bytes];
  }

  /// The first free of that size which only the snapshot has is that of the prediction's, before or behind its place.
  void add_frees(const Gap& gap) {
    for (const std::uint32_t i : gap.predicted) {
      if (!is_shared_free_of_predicted(i)) continue;
      std::deque<std::uint32_t>& found = freed_[size_of_predicted(i)];
      const std::optional<std::uint32_t> move = found.empty() ? std::nullopt : std::optional(found.front());
      if (move) found.pop_front();
      if (!move && !is_held_to_the_end(i)) continue;  // it is freed behind what was lined up
      const bool later = !move || times_[*move] >= i;
      add(later ? DifferenceKind::freed_later : DifferenceKind::freed_sooner, i, move);
    }
  }

  void add(DifferenceKind kind, std::optional<std::uint32_t> i, std::optional<std::uint32_t> j) {
    Difference out{.kind = kind, .at = piece_->at};
    const bool freed = kind == DifferenceKind::freed_later || kind == DifferenceKind::freed_sooner;
    if (i) {
      out.predicted = Bytes(size_of_predicted(*i));
      out.tensor = tensor_of(runs_, of_predicted(*i).tensor);
      if (!out.at) out.at = of_predicted(*i).at;
    }
    const std::uint32_t time = i ? *i : times_[*j];
    if (!out.at) out.at = of_predicted(time).at;
    if (j) {
      out.observed = Bytes(size_of_observed(*j));
      out.entry = of_observed(*j).entry;
      out.stack = runs_.observed.tensors[of_observed(*j).tensor].stack;
    }
    if (freed) out.observed = out.predicted;
    out_.push_back({time, std::move(out)});
  }

  const Runs& runs_;
  const LinedUp& lined_up_;
  std::vector<std::optional<std::uint32_t>> partner_;
  std::unordered_set<std::uint32_t> partnered_{};
  const Piece* piece_ = nullptr;                               ///< At hand.
  std::map<std::int64_t, std::deque<std::uint32_t>> freed_{};  ///< Frees that only the snapshot has, by size.
  std::map<std::int64_t, std::int64_t> held_{};                ///< Tensors by size.
  std::vector<std::uint32_t> times_;
  std::vector<Timed> out_{};
};

/// The first of the stacks of an export that differ in the layer or the moment alone.
class AlikeStacks {
 public:
  explicit AlikeStacks(const Snapshot& snapshot) : snapshot_(snapshot) {}

  std::uint32_t first(std::uint32_t stack) {
    const auto [found, fresh] = first_.try_emplace(stack, stack);
    if (!fresh) return found->second;
    const auto own = own_stack(snapshot_, stack);
    if (own)
      found->second = named_.try_emplace({own->tensor.op, of_all_layers(own->tensor.module)}, stack).first->second;
    return found->second;
  }

 private:
  const Snapshot& snapshot_;
  std::unordered_map<std::uint32_t, std::uint32_t> first_{};
  std::map<std::pair<std::string, std::string>, std::uint32_t> named_{};
};

}  // namespace

std::string of_all_layers(const std::string& module) {
  std::string out;
  std::size_t at = 0;
  while (at <= module.size()) {
    const std::size_t end = std::min(module.find('.', at), module.size());
    const std::string part = module.substr(at, end - at);
    const bool number =
        !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
    out += (at == 0 ? "" : ".") + (number ? "*" : part);
    at = end + 1;
  }
  return out;
}

PredictedTensor tensor_of(const Runs& runs, std::uint32_t predicted) {
  const std::uint32_t stack = runs.predicted.tensors[predicted].stack;
  std::optional<OwnStack> own = own_stack(runs.predicted_in, stack);
  return own ? std::move(own->tensor) : PredictedTensor{};
}

std::vector<std::string> frames_of(const Runs& runs, std::uint32_t stack) {
  if (const auto own = own_stack(runs.observed_in, stack))
    return {own->tensor.module.empty() ? own->tensor.op : own->tensor.op + " in " + own->tensor.module};
  return runs.names.lines(stack, most_frames);
}

std::vector<std::optional<std::uint32_t>> partners(const Runs& runs, const LinedUp& lined_up) {
  std::vector<std::optional<std::uint32_t>> out(runs.observed.tensors.size());
  for (const Piece& piece : lined_up.pieces) {
    for (const auto& [i, j] : piece.same) {
      const Move& predicted = runs.predicted.moves[piece.predicted[i]];
      if (predicted.allocates) out[runs.observed.moves[piece.observed[j]].tensor] = predicted.tensor;
    }
  }
  return out;
}

std::vector<Difference> differences_of(const Runs& runs, const LinedUp& lined_up) {
  return Finder(runs, lined_up).run();
}

std::vector<Difference> together(const Runs& runs, std::vector<Difference> differences) {
  AlikeStacks stacks(runs.observed_in);
  std::map<std::tuple<DifferenceKind, std::int64_t, std::int64_t, std::string, std::string, std::uint32_t>, std::size_t>
      index;
  std::vector<Difference> out;
  for (Difference& one : differences) {
    const std::string op = one.tensor ? one.tensor->op : "";
    const std::string module = one.tensor ? of_all_layers(one.tensor->module) : "";
    const auto [found, fresh] = index.try_emplace(
        {one.kind, one.predicted.count(), one.observed.count(), op, module, stacks.first(one.stack)}, out.size());
    if (fresh) {
      out.push_back(std::move(one));
      continue;
    }
    Difference& known = out[found->second];
    known.count += one.count;
    if (known.tensor) known.tensor->module = module;
  }
  std::ranges::stable_sort(out, std::greater{}, &Difference::bytes);
  return out;
}

}  // namespace oomplan::comparing
