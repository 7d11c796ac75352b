#include "held.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "oomplan/core/text.hpp"

namespace oomplan::comparing {
namespace {

/// A moment is told where this part of what is held, or less, is in use in one of both only.
constexpr std::int64_t told_part = 20;
/// Moments this much further apart than the nearest are as likely.
constexpr std::int64_t as_near_part = 100;

struct End {
  PhaseOfStep after{};
  Sizes sizes{};
  bool optimizer_state = false;
  std::size_t moves = 0;  ///< Up to it.
};

/// The move that ends each phase of each step: with accumulation phases come in turns.
std::set<std::size_t> last_moves(const Side& side) {
  std::map<std::pair<int, int>, std::size_t> last;
  for (std::size_t i = 0; i < side.moves.size(); ++i)
    if (const auto& at = side.moves[i].at) last[{at->step, static_cast<int>(at->phase)}] = i;
  std::set<std::size_t> out;
  for (const auto& [key, i] : last) out.insert(i);
  return out;
}

/// What the prediction holds at the end of each phase of each step.
std::vector<End> ends_of(const Runs& runs) {
  const Side& side = runs.predicted;
  std::vector<bool> is_state;
  for (std::uint32_t i = 0; i < side.tensors.size(); ++i)
    is_state.push_back(tensor_of(runs, i).bucket == Bucket::optimizer);
  const std::set<std::size_t> last = last_moves(side);
  std::vector<End> out;
  Sizes sizes;
  std::int64_t state = 0;
  for (std::size_t i = 0; i < side.moves.size(); ++i) {
    const Move& move = side.moves[i];
    const int by = move.allocates ? 1 : -1;
    sizes[side.tensors[move.tensor].bytes] += by;
    if (is_state[move.tensor]) state += by;
    if (last.contains(i)) out.push_back({*move.at, sizes, state > 0, i + 1});
  }
  return out;
}

/// The buckets of the prediction that have tensors of a size.
std::map<std::int64_t, std::set<Bucket>> buckets_by_size(const Runs& runs) {
  std::map<std::int64_t, std::set<Bucket>> out;
  for (std::uint32_t i = 0; i < runs.predicted.tensors.size(); ++i)
    out[runs.predicted.tensors[i].bytes].insert(tensor_of(runs, i).bucket);
  return out;
}

/// The bucket that a tensor's frames say.
std::optional<Bucket> said_bucket(const Runs& runs, std::uint32_t observed) {
  const std::uint32_t stack = runs.observed.tensors[observed].stack;
  if (const auto own = own_stack(runs.observed_in, stack)) return own->tensor.bucket;
  const std::string_view category = runs.names.category(stack);
  for (const Bucket bucket : {Bucket::weights, Bucket::optimizer, Bucket::gradients, Bucket::inputs})
    if (category == name_of(bucket)) return bucket;
  return std::nullopt;
}

/// The highest level of each phase of each step, in order of time; what begins within the first `until` moves ends
/// there.
std::vector<std::pair<PhaseOfStep, std::int64_t>> peaks_of(const Side& side, bool coarsely, std::size_t until) {
  std::vector<std::pair<PhaseOfStep, std::int64_t>> out;
  std::map<std::pair<int, int>, std::size_t> index;
  std::int64_t level = total(sizes_of(side, side.start));
  std::size_t begun = 0;
  for (std::size_t i = 0; i < side.moves.size(); ++i) {
    const Move& move = side.moves[i];
    if (i == until) begun = out.size();
    const std::int64_t bytes = side.tensors[move.tensor].bytes;
    level = move.allocates ? saturating_add(level, bytes) : saturating_sub(level, bytes);
    if (!move.at) continue;
    const PhaseOfStep at = coarsely ? coarse(*move.at) : *move.at;
    const auto [found, fresh] = index.try_emplace({at.step, static_cast<int>(at.phase)}, out.size());
    if (fresh) out.emplace_back(at, level);
    if (found->second >= begun) out[found->second].second = std::max(out[found->second].second, level);
  }
  return out;
}

}  // namespace

Seen seen_moment(const Runs& runs, const Sizes& held) {
  Seen seen;
  SeenMoment& out = seen.moment;
  const std::vector<End> ends = ends_of(runs);
  const std::int64_t all = total(held);
  std::vector<std::int64_t> distances;
  for (const End& end : ends) distances.push_back(apart(end.sizes, held));
  if (distances.empty() || all == 0) {
    out.undecided = "nothing is in use";
    return seen;
  }
  const std::int64_t least = *std::ranges::min_element(distances);
  out.apart = Bytes(least);
  const End& end = ends[static_cast<std::size_t>(std::ranges::find(distances, least) - distances.begin())];
  seen.nearest = end.moves;
  if (least > all / told_part) {
    out.undecided =
        fmt::format("of the {} in use, the nearest moment of the prediction, the end of {} of step {}, is {} apart",
                    to_text(Bytes(all)), name_of(end.after.phase), end.after.step, to_text(Bytes(least)));
    return seen;
  }
  std::set<bool> state;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (distances[i] > saturating_add(least, all / as_near_part)) continue;
    out.after.push_back(ends[i].after);
    state.insert(ends[i].optimizer_state);
  }
  if (state.size() == 1) out.optimizer_state = *state.begin();
  return seen;
}

std::vector<ComparedBucket> buckets_of(const Runs& runs, const std::vector<std::uint32_t>& predicted,
                                       const std::vector<std::uint32_t>& observed,
                                       const std::vector<std::optional<std::uint32_t>>& partner) {
  std::map<std::string, ComparedBucket> by_name;
  const auto of = [&](std::string_view name) -> ComparedBucket& { return by_name[std::string(name)]; };
  for (const std::uint32_t i : predicted)
    of(name_of(tensor_of(runs, i).bucket)).predicted += Bytes(runs.predicted.tensors[i].bytes);
  const auto by_size = buckets_by_size(runs);
  for (const std::uint32_t j : observed) {
    const std::int64_t bytes = runs.observed.tensors[j].bytes;
    const auto known = by_size.find(bytes);
    std::string_view name = "not_predicted";
    if (partner[j]) {
      name = name_of(tensor_of(runs, *partner[j]).bucket);
    } else if (known != by_size.end()) {
      const std::optional<Bucket> said = said_bucket(runs, j);
      const bool one = known->second.size() == 1;
      const bool told = one || (said && known->second.contains(*said));
      name = told ? name_of(one ? *known->second.begin() : *said) : "not_told";
    }
    of(name).observed += Bytes(bytes);
  }
  std::vector<ComparedBucket> out;
  std::vector<std::string_view> order(bucket_names.begin(), bucket_names.end());
  order.insert(order.end(), {"not_told", "not_predicted"});
  for (const std::string_view name : order) {
    const auto found = by_name.find(std::string(name));
    if (found == by_name.end()) continue;
    found->second.name = name;
    out.push_back(std::move(found->second));
  }
  return out;
}

std::vector<ComparedSize> sizes_at(const Runs& runs, const std::vector<std::uint32_t>& predicted,
                                   const std::vector<std::uint32_t>& observed, std::size_t most) {
  std::map<std::int64_t, ComparedSize> by_size;
  std::map<std::int64_t, std::uint32_t> seen;
  for (const std::uint32_t i : predicted) {
    ComparedSize& one = by_size[runs.predicted.tensors[i].bytes];
    if (one.predicted++ == 0) one.tensor = tensor_of(runs, i);
  }
  for (const std::uint32_t j : observed) {
    ComparedSize& one = by_size[runs.observed.tensors[j].bytes];
    if (one.observed++ == 0) seen[runs.observed.tensors[j].bytes] = j;
  }
  std::vector<ComparedSize> out;
  for (auto& [size, one] : by_size) {
    one.size = Bytes(size);
    if (one.predicted != one.observed) out.push_back(std::move(one));
  }
  const auto bytes = [](const ComparedSize& one) { return one.size * std::abs(one.predicted - one.observed); };
  std::ranges::stable_sort(out, std::greater{}, bytes);
  if (out.size() > most) out.resize(most);
  for (ComparedSize& one : out)
    if (const auto found = seen.find(one.size.count()); found != seen.end())
      one.frames = frames_of(runs, runs.observed.tensors[found->second].stack);
  return out;
}

std::vector<ComparedPhase> phases_of(const Runs& runs, ToldBy by, bool cut, std::size_t until) {
  if (by != ToldBy::exported && by != ToldBy::frames) return {};
  std::vector<ComparedPhase> out;
  for (const auto& [at, level] : peaks_of(runs.predicted, by == ToldBy::frames, until))
    out.push_back({.at = at, .predicted = Bytes(level)});
  int in_part = -1;
  for (const auto& [at, level] : peaks_of(runs.observed, by == ToldBy::frames, runs.observed.moves.size())) {
    if (cut && in_part < 0) in_part = at.step;
    if (at.step <= in_part) continue;
    const auto known = std::ranges::find(out, at, &ComparedPhase::at);
    if (known != out.end()) known->observed = Bytes(level);
    if (known == out.end()) out.push_back({.at = at, .observed = Bytes(level)});
  }
  return out;
}

}  // namespace oomplan::comparing
