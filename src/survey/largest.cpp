#include "largest.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "oomplan/ingest/ingest.hpp"

namespace oomplan::survey {
namespace {

constexpr int most_plays = 40;
constexpr int plays_by_line = 8;
constexpr std::uint64_t coarse_parts = 128;

class Search {
 public:
  Search(const RoomQuestion& question, const Scale& scale)
      : question_(question), scale_(scale), limit_(limit_of(question.gpu, question.headroom)) {}

  std::optional<Largest> answer() {
    if (!bracket()) return std::nullopt;
    if (lower_.value == 0) return Largest{};
    // From the bound down in growing steps, then halfway between what fits and what does not.
    Largest out;
    std::int64_t fails = next(lower_.value);
    for (std::int64_t value = lower_.value, steps = 1;; steps *= 2) {
      const std::optional<CheckedFit> fit = fit_with(question_, scale_.key, value);
      if (!fit) return std::nullopt;
      if (fit->fits) {
        out = {value, fit->needed};
      } else {
        fails = value;
      }
      if (fails <= next(out.value)) return out;
      value = out.value > 0 ? within(std::midpoint(out.value, fails), out.value, fails)
                            : within(fails - steps * step_at(fails), 0, fails);
    }
  }

 private:
  struct Bound {
    std::int64_t value = 0;
    Bytes needed{};  ///< At the least.
  };

  std::int64_t step_at(std::int64_t value) const {
    if (!scale_.coarse) return 1;
    return static_cast<std::int64_t>(
        std::max(std::bit_floor(static_cast<std::uint64_t>(value)) / coarse_parts, std::uint64_t{1}));
  }

  std::int64_t next(std::int64_t value) const {
    return value < scale_.least ? scale_.least : std::min(value + step_at(value), scale_.most + 1);
  }

  /// Rounded down to a step, between the two and neither of them.
  std::int64_t within(std::int64_t value, std::int64_t below, std::int64_t above) const {
    const std::int64_t at_least = std::max(value, scale_.least);
    return std::clamp(at_least - at_least % step_at(at_least), next(below), above - 1);
  }

  std::optional<Bound> bound(std::int64_t value) const {
    const std::optional<TrainingPlan> plan = plan_with(question_, scale_.key, value);
    const auto least = plan ? FitCheck(*plan, question_.architecture).least_on(question_.gpu) : std::nullopt;
    return least ? std::optional(Bound{value, *least}) : std::nullopt;
  }

  /// Along the line through the last two bounds, which mostly is that of all; else halfway, or twice as much.
  std::int64_t guess(int plays) const {
    const bool line = slope_ > 0 && plays <= plays_by_line;
    const std::int64_t value = line ? last_.value + steps_to_limit() : 2 * lower_.value;
    if (!upper_) return std::min(std::clamp(value, next(lower_.value), 16 * lower_.value), scale_.most);
    return within(line ? value : std::midpoint(lower_.value, upper_->value), lower_.value, upper_->value);
  }

  /// Rounded down: so that the next is the last that fits.
  std::int64_t steps_to_limit() const {
    const std::int64_t bytes = (limit_ - last_.needed).count();
    return bytes >= 0 ? bytes / slope_ : -((-bytes + slope_ - 1) / slope_);
  }

  void take(const Bound& taken) {
    if (last_.value > 0) slope_ = (taken.needed - last_.needed).count() / (taken.value - last_.value);
    last_ = taken;
    if (taken.needed <= limit_) {
      lower_ = taken;
    } else {
      upper_ = taken;
    }
  }

  /// The last whose tensors would fit, and the first whose do not, a step above it. False where there is no such pair.
  bool bracket() {
    for (int plays = 0; plays < most_plays; ++plays) {
      if (lower_.value == scale_.most || (upper_ && upper_->value <= next(lower_.value))) return true;
      const std::optional<Bound> found = bound(plays == 0 ? scale_.first : guess(plays));
      if (!found) return false;
      take(*found);
    }
    return false;
  }

  const RoomQuestion& question_;
  const Scale& scale_;
  Bytes limit_;
  Bound last_{};
  Bound lower_{};
  std::optional<Bound> upper_{};
  std::int64_t slope_ = 0;  ///< Bytes a unit.
};

}  // namespace

std::optional<TrainingPlan> plan_with(const RoomQuestion& question, const std::string& key, std::int64_t value) {
  IngestOptions options = question.ingest;
  options.dialect = question.plan.dialect;
  options.overrides.push_back(key + "=" + std::to_string(value));
  Result<TrainingPlan> plan = ingest(question.document, options);
  if (plan) plan = with_model_defaults(std::move(*plan), question.architecture);
  return plan ? std::optional(std::move(*plan)) : std::nullopt;
}

std::optional<CheckedFit> fit_with(const RoomQuestion& question, const std::string& key, std::int64_t value) {
  const std::optional<TrainingPlan> plan = plan_with(question, key, value);
  if (!plan) return std::nullopt;
  CheckedFit fit = FitCheck(*plan, question.architecture).on(question.gpu, limit_of(question.gpu, question.headroom));
  return fit.errors.empty() ? std::optional(std::move(fit)) : std::nullopt;
}

std::optional<TrainingPlan> plan_but_for(const Document& document, IngestOptions options, std::string_view key,
                                         std::int64_t value) {
  const Result<TrainingPlan> open = ingest(document, options);
  const auto is_other = [](const Diagnostic& one) {
    return one.severity == Severity::error && one.code != "ingest/missing-fact";
  };
  if (open || std::ranges::any_of(open.errors(), is_other)) return std::nullopt;
  options.overrides.push_back(std::string(key) + "=" + std::to_string(value));
  Result<TrainingPlan> plan = ingest(document, options);
  return plan ? std::optional(std::move(*plan)) : std::nullopt;
}

std::optional<Largest> largest_on(const RoomQuestion& question, const Scale& scale) {
  return Search(question, scale).answer();
}

}  // namespace oomplan::survey
