// room_of: a search over the micro-batch.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/ingest/keys.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 20;
constexpr int most_plays = 40;
constexpr int plays_by_line = 8;

/// What the last override of the key says, else the file, else the plan.
std::int64_t value_now(const RoomQuestion& question, const std::string& key) {
  std::int64_t out = question.plan.batch.micro_batch_size.value;
  if (const Node* node = find_path(question.document.root, key)) out = node->as_integer().value_or(out);
  for (const std::string& text : question.ingest.overrides) {
    if (!text.starts_with(key + "=")) continue;
    out = parse_integer(std::string_view(text).substr(key.size() + 1)).value_or(out);
  }
  return std::max(out, std::int64_t{1});
}

class Search {
 public:
  Search(const RoomQuestion& question, std::string key)
      : question_(question),
        key_(std::move(key)),
        limit_(limit_of(question.gpu, question.headroom)),
        now_(value_now(question, key_)) {}

  std::optional<Room> answer() {
    if (!bracket()) return std::nullopt;
    // From the bound down in growing steps, then halfway between what fits and what does not.
    Room out{.key = key_, .now = now_};
    std::int64_t fails = lower_.rows + 1;
    for (std::int64_t rows = lower_.rows, step = 1; fails > out.largest + 1; step *= 2) {
      const std::optional<TrainingPlan> plan = with(rows);
      if (!plan) return std::nullopt;
      const CheckedFit fit = FitCheck(*plan, question_.architecture).on(question_.gpu, limit_);
      if (!fit.errors.empty()) return std::nullopt;
      if (fit.fits) {
        out.largest = rows;
        out.needed = fit.needed;
      } else {
        fails = rows;
      }
      rows = out.largest > 0 ? std::midpoint(out.largest, fails) : std::max(std::int64_t{1}, fails - step);
    }
    return out;
  }

 private:
  struct Bound {
    std::int64_t rows = 0;
    Bytes needed{};  ///< At the least.
  };

  std::optional<TrainingPlan> with(std::int64_t rows) const {
    IngestOptions options = question_.ingest;
    options.dialect = question_.plan.dialect;
    options.overrides.push_back(key_ + "=" + std::to_string(rows));
    Result<TrainingPlan> plan = ingest(question_.document, options);
    if (plan) plan = with_model_defaults(std::move(*plan), question_.architecture);
    return plan ? std::optional(std::move(*plan)) : std::nullopt;
  }

  std::optional<Bound> bound(std::int64_t rows) const {
    const std::optional<TrainingPlan> plan = with(rows);
    const auto least = plan ? FitCheck(*plan, question_.architecture).least_on(question_.gpu) : std::nullopt;
    return least ? std::optional(Bound{rows, *least}) : std::nullopt;
  }

  /// Along the line through the last two bounds, which mostly is that of all; else halfway, or twice as much.
  std::int64_t guess(int plays) const {
    const bool line = slope_ > 0 && plays <= plays_by_line;
    const std::int64_t rows = line ? last_.rows + steps_to_limit() : 2 * lower_.rows;
    if (!upper_) return std::clamp(rows, lower_.rows + 1, 16 * lower_.rows);
    return std::clamp(line ? rows : std::midpoint(lower_.rows, upper_->rows), lower_.rows + 1, upper_->rows - 1);
  }

  /// Rounded down: so that the next is the last that fits.
  std::int64_t steps_to_limit() const {
    const std::int64_t bytes = (limit_ - last_.needed).count();
    return bytes >= 0 ? bytes / slope_ : -((-bytes + slope_ - 1) / slope_);
  }

  void take(const Bound& next) {
    if (last_.rows > 0) slope_ = (next.needed - last_.needed).count() / (next.rows - last_.rows);
    last_ = next;
    if (next.needed <= limit_) {
      lower_ = next;
    } else {
      upper_ = next;
    }
  }

  /// The last whose tensors would fit, and the first whose do not, one above it. False where there is no such pair.
  bool bracket() {
    for (int plays = 0; plays < most_plays; ++plays) {
      if (upper_ && upper_->rows == lower_.rows + 1) return true;
      const std::int64_t rows = plays == 0 ? now_ : guess(plays);
      if (rows > most_rows) return false;
      const std::optional<Bound> next = bound(rows);
      if (!next) return false;
      take(*next);
    }
    return false;
  }

  const RoomQuestion& question_;
  std::string key_;
  Bytes limit_;
  std::int64_t now_ = 1;
  Bound last_{};
  Bound lower_{};
  std::optional<Bound> upper_{};
  std::int64_t slope_ = 0;  ///< Bytes a row.
};

}  // namespace

std::optional<Room> room_of(const RoomQuestion& question) {
  constexpr std::string_view fact = "micro_batch_size";  // which is the plain form's own key
  return Search(question, key_of_fact(fact, question.plan.dialect).value_or(std::string(fact))).answer();
}

}  // namespace oomplan
