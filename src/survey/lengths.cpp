// A run whose rows' length nobody says: which lengths fit a card.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "largest.hpp"
#include "oomplan/estimate/fit_check.hpp"

namespace oomplan {
namespace {

constexpr std::string_view length_key = "plan.sequence_length";
constexpr std::array<std::int64_t, 5> usual_lengths{512, 2'048, 8'192, 32'768, 131'072};

std::optional<LengthPoint> point_at(const RoomQuestion& question, std::int64_t length) {
  const std::optional<CheckedFit> fit = survey::fit_with(question, std::string(length_key), length);
  if (!fit) return std::nullopt;
  return LengthPoint{length, fit->needed, fit->at_least, fit->fits};
}

/// What there is between the shortest row and the longest.
Lengths reach_of(const RoomQuestion& question) {
  const Architecture& model = question.architecture;
  return {.gpu = question.gpu.title,
          .least = question.plan.batch.completion_length.value + 1,
          .most = model.max_positions > 0 ? model.max_positions : usual_lengths.back(),
          .stops = model.max_positions > 0};
}

}  // namespace

std::string with_length(std::int64_t length) { return std::string(length_key) + "=" + std::to_string(length); }

std::optional<TrainingPlan> plan_but_for_length(const Document& document, const IngestOptions& options) {
  return survey::plan_but_for(document, options, length_key, usual_lengths.front());
}

std::optional<Lengths> lengths_of(const RoomQuestion& question) {
  Lengths out = reach_of(question);
  if (out.least > out.most) return std::nullopt;
  const auto largest = survey::largest_on(question, {.key = std::string(length_key),
                                                     .first = std::clamp(usual_lengths[1], out.least, out.most),
                                                     .least = out.least,
                                                     .most = out.most,
                                                     .coarse = true});
  if (!largest) return std::nullopt;
  out.largest = largest->value;
  out.needed = largest->needed;
  return out;
}

std::vector<LengthPoint> length_points(const RoomQuestion& question) {
  const Lengths reach = reach_of(question);
  std::vector<std::int64_t> lengths(usual_lengths.begin(), usual_lengths.end());
  std::erase_if(lengths, [&](std::int64_t length) { return length < reach.least || length >= reach.most; });
  lengths.push_back(reach.most);
  std::vector<LengthPoint> out;
  for (const std::int64_t length : lengths) {
    if (const std::optional<LengthPoint> point = point_at(question, length)) out.push_back(*point);
  }
  return out;
}

}  // namespace oomplan
