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
#include "oomplan/core/text.hpp"
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

/// Of each card; nothing where one cannot be decided.
std::vector<Lengths> lengths_on(const std::vector<Gpu>& gpus, const RoomQuestion& first) {
  std::vector<Lengths> out;
  for (const Gpu& gpu : gpus) {
    std::optional<Lengths> found =
        lengths_of({first.document, first.ingest, first.plan, first.architecture, gpu, first.headroom});
    if (!found) return {};
    out.push_back(std::move(*found));
  }
  return out;
}

}  // namespace

std::string with_length(std::int64_t length) { return std::string(length_key) + "=" + std::to_string(length); }

std::optional<TrainingPlan> plan_but_for_length(const Document& document, const IngestOptions& options) {
  std::optional<TrainingPlan> plan = survey::plan_but_for(document, options, length_key, usual_lengths.front());
  // Of rows that are joined nobody says of how many tokens; a length would be that of all of them together.
  const bool joined = plan && plan->longest_sample == 1;
  return joined ? std::nullopt : std::move(plan);
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

std::optional<std::int64_t> deciding_length(const std::vector<Lengths>& lengths) {
  if (lengths.empty()) return std::nullopt;
  if (std::ranges::all_of(lengths, &Lengths::any_fits)) return lengths.front().most;
  if (std::ranges::all_of(lengths, &Lengths::none_fits)) return lengths.front().least;
  return std::nullopt;
}

void say_deciding_length(bool all_fit, TrainingPlan& plan) {
  Setting<std::int64_t>& length = plan.batch.sequence_length;
  const std::string which = all_fit ? "the longest that the model takes" : "the shortest that there can be";
  length.origin = {.kind = Origin::Kind::assumed, .source = which + ", as nothing says how long rows are"};
  std::string text = "nothing says how long rows are; even " + which + ", of " + with_separators(length.value);
  text += length.value == 1 ? " token, " : " tokens, ";
  text += all_fit ? "fit" : "do not fit";
  plan.warnings.push_back({Severity::warning, "estimate/any-length", std::move(text), {}, {}, {}});
}

Diagnostics with_lengths(Diagnostics errors, const std::vector<Lengths>& lengths) {
  std::string text;
  for (const Lengths& one : lengths) text += (text.empty() ? "" : "; ") + fitting_text(one) + " on " + one.gpu;
  for (Diagnostic& error : errors) {
    if (!text.empty()) error.message += "; " + text;
  }
  return errors;
}

Result<TrainingPlan> plan_on(const Document& document, const IngestOptions& options, const std::vector<Gpu>& gpus,
                             double headroom, const ModelFinder& models) {
  Result<TrainingPlan> plan = ingest(document, options);
  if (plan || gpus.empty()) return plan;
  std::optional<TrainingPlan> open = plan_but_for_length(document, options);
  if (!open) return plan;
  const Result<Architecture>& model = models(*open);
  Result<TrainingPlan> whole = model ? with_model_defaults(std::move(*open), *model) : model.errors();
  if (!whole) return plan;
  const std::vector<Lengths> lengths = lengths_on(gpus, {document, options, *whole, *model, gpus.front(), headroom});
  const std::optional<std::int64_t> length = deciding_length(lengths);
  if (!length) return with_lengths(plan.errors(), lengths);
  IngestOptions decided = options;
  decided.overrides.push_back(with_length(*length));
  plan = ingest(document, decided);
  if (plan) say_deciding_length(lengths.front().any_fits(), *plan);
  return plan;
}

}  // namespace oomplan
