#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "case.hpp"
#include "cause.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "request.hpp"

namespace oomplan {
namespace diagnose {
namespace {

constexpr std::size_t most_matches = 5;
constexpr std::int64_t gib = std::int64_t{1} << 30;

/// Both sides of one comparison.
struct Sides {
  const Diagnosis& observed;
  const Prediction& predicted;
  GpuNumbers gpu{};
  PhasePeak moment{};  ///< Predicted, in the phase of the failure.
  PhasePeak peak{};    ///< Predicted, of the run.
};

const PhasePeak& highest(const std::vector<PhasePeak>& peaks, std::optional<Phase> phase) {
  const auto of = [&](const PhasePeak& p) { return !phase || p.phase == *phase ? p.tensors() : Bytes(-1); };
  return *std::ranges::max_element(peaks, {}, of);
}

/// What a memory snapshot calls activations.
constexpr std::array<Bucket, 4> passing{Bucket::activations, Bucket::attention_scores, Bucket::temporaries,
                                        Bucket::autocast_copies};

std::optional<std::int64_t> predicted_in(std::string_view category, const PhasePeak& peak) {
  const auto one = [&](Bucket bucket) { return at(peak.by_bucket, bucket).count(); };
  if (category == "weights") return one(Bucket::weights);
  if (category == "optimizer") return one(Bucket::optimizer);
  if (category == "gradients") return one(Bucket::gradients);
  if (category == "loss") return one(Bucket::logits_and_loss);
  if (category == "inputs") return one(Bucket::inputs);
  if (category != "activations") return std::nullopt;
  std::int64_t sum = 0;
  for (const Bucket bucket : passing) sum = saturating_add(sum, one(bucket));
  return sum;
}

void compare_numbers(const Sides& s, std::vector<Compared>& out) {
  const GpuNumbers& n = s.gpu;
  const auto add = [&](const char* what, std::int64_t predicted, std::optional<std::int64_t> observed) {
    if (observed && *observed > 0 && predicted > 0) out.push_back({what, predicted, *observed});
  };
  if (n.allocated) add("tensors", s.moment.tensors().count(), saturating_add(*n.allocated, n.requested.value_or(0)));
  if (n.allocated && n.unallocated && s.predicted.reserved)
    add("reserved", *s.predicted.reserved, saturating_add(*n.allocated, *n.unallocated));
  if (s.predicted.reserved && !s.predicted.gpu.empty())
    add("process", saturating_add(*s.predicted.reserved, s.predicted.beside), n.process);
  if (!s.predicted.gpu.empty()) add("gpu", s.predicted.gpu_total, n.total);
}

void compare_categories(const Sides& s, std::vector<Compared>& out) {
  for (const MemoryAccount& account : s.observed.accounts) {
    if (&account != &s.observed.accounts.front() && !account.requested) continue;
    for (const Holding& held : account.categories) {
      const auto predicted = predicted_in(held.name, s.moment);
      if (predicted) out.push_back({held.name, *predicted, held.bytes});
    }
    return;
  }
}

void contradict_size(const Sides& s, std::vector<std::string>& out) {
  if (!s.gpu.allocated) return;
  const std::int64_t held = *s.gpu.allocated;
  const std::int64_t most = s.peak.tensors().count();
  if (held > saturating_add(most, most / 4 + gib))
    out.push_back(
        fmt::format("the config predicts {} of tensors at the most, and the log shows {} held by this process: "
                    "it ran another config, or something else ran in it",
                    shown(most), shown(held)));
  const std::int64_t loaded = s.predicted.peaks.front().tensors().count();
  const std::string& phase = s.observed.moment.phase;
  const bool after_load = phase != "unknown" && phase != "load" && phase != "loader";
  if (after_load && loaded > gib && held < loaded / 4 * 3)
    out.push_back(
        fmt::format("the config predicts {} once the model is loaded, and only {} were held in {}: it ran "
                    "another model, another precision, or the model in parts",
                    shown(loaded), shown(held), phase));
}

void contradict_gpu(const Sides& s, std::vector<std::string>& out) {
  if (s.predicted.gpu.empty()) return;
  const std::int64_t named = s.predicted.gpu_total;
  if (const auto total = s.gpu.total; total && std::abs(*total - named) > named / 20)
    out.push_back(fmt::format("the GPU of the log has {}, and the one of --gpu {}", shown(*total), shown(named)));
  if (s.observed.place != Where::gpu || !s.observed.out_of_memory || s.predicted.needed > named) return;
  std::string why = "something is not as the config says";
  if (s.observed.verdict.cause == Cause::vram_other_process) why = "others held what it lacked";
  out.push_back(fmt::format("the config needs {} of the {} of --gpu, and yet it ran out: {}", shown(s.predicted.needed),
                            shown(named), why));
}

void match(const Sides& s, Join& out) {
  if (s.observed.place != Where::gpu) return;
  const auto asked = std::ranges::find(s.observed.facts, "requested", &Reading::name);
  if (asked == s.observed.facts.end() || asked->kind != Reading::Kind::bytes) return;
  out.requested = asked->text;
  out.matches = matches_of(*asked, s.predicted.allocations, s.observed.moment.played);
  if (out.matches.size() <= most_matches) return;
  out.more_matches = static_cast<std::int64_t>(out.matches.size() - most_matches);
  out.matches.resize(most_matches);
}

}  // namespace
}  // namespace diagnose

Join join(const Diagnosis& diagnosis, const Prediction& prediction) {
  Join out{.config = prediction.config, .problem = prediction.problem};
  if (!out.problem.empty() || prediction.peaks.empty()) return out;
  std::optional<Phase> phase = diagnosis.moment.played;
  if (std::ranges::none_of(prediction.peaks, [&](const PhasePeak& p) { return p.phase == phase; })) phase.reset();
  const diagnose::Sides sides{diagnosis, prediction, diagnose::gpu_numbers(diagnosis.facts),
                              diagnose::highest(prediction.peaks, phase),
                              diagnose::highest(prediction.peaks, std::nullopt)};
  if (phase) out.phase = name_of(*phase);
  diagnose::compare_numbers(sides, out.compared);
  diagnose::compare_categories(sides, out.compared);
  diagnose::match(sides, out);
  diagnose::contradict_size(sides, out.contradictions);
  diagnose::contradict_gpu(sides, out.contradictions);
  return out;
}

}  // namespace oomplan
