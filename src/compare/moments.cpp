#include "moments.hpp"

#include <algorithm>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::comparing {
namespace {

constexpr std::int64_t most_steps = 1'000'000;

template <class Names>
auto named(const Names& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
}

/// "forward of step 1"
std::optional<PhaseOfStep> moment_of(std::string_view text) {
  constexpr std::string_view between = " of step ";
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto phase = named(phase_names, text.substr(0, at));
  const auto step = parse_integer(text.substr(at + between.size()));
  if (!phase || !step || *step < 0 || *step > most_steps) return std::nullopt;
  return PhaseOfStep{static_cast<Phase>(*phase), static_cast<int>(*step)};
}

/// Of each stack, once.
std::vector<std::optional<OwnStack>> own_stacks(const Snapshot& snapshot) {
  std::vector<std::optional<OwnStack>> out;
  for (std::uint32_t stack = 0; stack < snapshot.stacks.size(); ++stack) out.push_back(own_stack(snapshot, stack));
  return out;
}

/// Follows a run from stack to stack.
class ByFrames {
 public:
  ByFrames(const diagnose::StackNames& names, bool begins_with_load) : names_(names), cut_(!begins_with_load) {}

  std::optional<PhaseOfStep> next(std::uint32_t stack) {
    const std::optional<Phase> phase = phase_of(stack);
    if (!phase) return now_;
    if (!now_) now_ = {*phase, *phase == Phase::load ? 0 : 1};
    if (begins_step(*phase)) ++now_->step;
    if (now_->step > 0 || *phase == Phase::load) now_->phase = *phase;
    return now_;
  }

 private:
  bool begins_step(Phase next) const {
    if (now_->phase == Phase::load) return next != Phase::load;
    return now_->phase == Phase::optimizer_step && next != Phase::optimizer_step && next != Phase::load;
  }

  std::optional<Phase> phase_of(std::uint32_t stack) const {
    if (stack == 0) return without_frames();
    if (names_.is_in_backward(stack)) return Phase::backward;
    const std::string_view category = names_.category(stack);
    if (category == "optimizer") return Phase::optimizer_step;
    if (category == "gradients") return Phase::backward;
    if (category == "loss" || category == "activations" || category == "inputs") return Phase::forward;
    if (category == "weights" && is_before_the_first_step()) return Phase::load;
    return std::nullopt;
  }

  bool is_before_the_first_step() const { return now_ ? now_->phase == Phase::load : !cut_; }

  /// The engine's threads run the backward pass, and mostly have no frames.
  std::optional<Phase> without_frames() const {
    const bool in_step = now_ && (now_->phase == Phase::forward || now_->phase == Phase::backward);
    return in_step ? std::optional(Phase::backward) : std::nullopt;
  }

  const diagnose::StackNames& names_;
  bool cut_;
  std::optional<PhaseOfStep> now_{};
};

}  // namespace

std::optional<OwnStack> own_stack(const Snapshot& snapshot, std::uint32_t stack) {
  const SnapshotStack& frames = snapshot.stacks[stack];
  const auto frame = [&](std::size_t i) -> const SnapshotFrame& { return snapshot.frames[frames[i]]; };
  if (frames.size() == 1 && frame(0).file == "oomplan")
    return OwnStack{.tensor = {.bucket = Bucket::runtime, .op = frame(0).function}};
  if (frames.size() != 3 || frame(1).file != "oomplan" || frame(2).file != "oomplan") return std::nullopt;
  const auto bucket = named(bucket_names, frame(1).function);
  const auto at = moment_of(frame(2).function);
  if (!bucket || !at) return std::nullopt;
  return OwnStack{{static_cast<Bucket>(*bucket), frame(0).function, frame(0).file}, at};
}

PhaseOfStep coarse(PhaseOfStep at) {
  if (at.phase == Phase::loss || at.phase == Phase::between || at.phase == Phase::reference) at.phase = Phase::forward;
  return at;
}

ToldBy tell_moments(const Snapshot& snapshot, const diagnose::StackNames& names, Side& side) {
  const auto stack_of = [&](const Move& move) { return side.tensors[move.tensor].stack; };
  const std::vector<std::optional<OwnStack>> own = own_stacks(snapshot);
  const bool exported = std::ranges::any_of(
      side.moves, [&](const Move& move) { return move.allocates && own[stack_of(move)].has_value(); });
  const bool framed = std::ranges::any_of(side.moves, [&](const Move& move) {
    return move.allocates && (names.is_in_backward(stack_of(move)) || names.category(stack_of(move)) != "other");
  });
  if (!exported && !framed) return ToldBy::nothing;
  ByFrames by_frames(names, side.start.empty());
  std::optional<PhaseOfStep> now;
  for (Move& move : side.moves) {
    if (move.allocates && exported) {
      const std::optional<OwnStack>& said = own[stack_of(move)];
      if (said && said->at) now = said->at;
    } else if (move.allocates) {
      now = by_frames.next(stack_of(move));
    }
    move.at = now;
  }
  return exported ? ToldBy::exported : ToldBy::frames;
}

}  // namespace oomplan::comparing
