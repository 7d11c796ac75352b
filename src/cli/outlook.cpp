#include "outlook.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "oomplan/advise/advise.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/survey/survey.hpp"
#include "parallel.hpp"

namespace oomplan::cli {
namespace {

/// Cards as large as the smallest that does, but for what drivers keep.
constexpr double about_as_large = 1.06;

bool does(const Findings& findings, Replays& replays, const Gpu& gpu, double headroom) {
  const Reservation& reservation = replays.with(gpu);
  if (undecided_on(reservation, gpu, *findings.plan)) return false;
  return fit(reservation, gpu, paged_of(*findings.footprint), *findings.plan, findings.unknown, headroom).fits();
}

/// What a replay sees of a card, and whether it has the older kernels.
using Sight = std::tuple<Bytes, Bytes, Bytes, bool>;

Sight sight_of(const Gpu& gpu) { return {gpu.total, gpu.context, gpu.cublas_workspace, is_older(gpu)}; }

/// "NVIDIA "; nothing of a card that is known by its size alone.
std::string_view maker_of(const Gpu& gpu) {
  const std::string_view title = gpu.title;
  return title.starts_with("a GPU") ? std::string_view() : title.substr(0, title.find(' ') + 1);
}

/// Without a card of the user's all that do; with one the smallest of its maker, and those about as large.
Cards cards_for(const Findings& findings, Replays& replays, const Catalog& catalog, double headroom) {
  std::vector<Gpu> known = known_gpus(catalog);
  std::string_view maker = findings.fits.empty() ? std::string_view() : maker_of(findings.fits.front().gpu);
  const auto is_of = [&](const Gpu& gpu) { return gpu.title.starts_with(maker); };
  if (std::ranges::count_if(known, is_of) < 2) maker = {};  // A title of the user's own.
  std::erase_if(known, [&](const Gpu& gpu) { return !gpu.apart.empty() || !is_of(gpu); });
  std::ranges::stable_sort(known, {}, &Gpu::total);
  std::map<Sight, bool> judged;
  FitCheck others(*findings.plan, *findings.architecture);
  Cards out{.all = findings.fits.empty(), .known = known.size()};
  for (Gpu& gpu : known) {
    const bool larger =
        !out.fitting.empty() && static_cast<double>(gpu.total.count()) >
                                    static_cast<double>(out.fitting.front().total.count()) * about_as_large;
    if (larger && !out.all) break;
    const bool as_played = gpu.compute_capability.empty() || is_older(gpu) == findings.plan->kernels.older_gpu.value;
    if (as_played && findings.footprint->peak.tensors() + gpu.context > limit_of(gpu, headroom)) continue;
    if (as_played && undecided_on(*findings.plan, *findings.footprint, gpu)) continue;
    const auto [at, is_new] = judged.try_emplace(sight_of(gpu));
    if (is_new)
      at->second = as_played ? does(findings, replays, gpu, headroom) : others.on(gpu, limit_of(gpu, headroom)).fits;
    if (at->second) out.fitting.push_back(std::move(gpu));
  }
  return out;
}

std::optional<Room> room_in(const Findings& findings, const OutlookInputs& inputs) {
  const IngestOptions options = ingest_options(inputs.question);
  return room_of({inputs.document, options, *findings.plan, *findings.architecture, findings.fits.front().gpu,
                  inputs.question.headroom});
}

std::optional<Lever> lever_in(const Findings& findings, const OutlookInputs& inputs) {
  const Result<Ladder> ladder = Ladder::load();
  if (!ladder) return std::nullopt;
  const AdviceQuestion question{.plan = *findings.plan,
                                .architecture = *findings.architecture,
                                .gpu = findings.fits.front().gpu,
                                .headroom = inputs.question.headroom,
                                .document = &inputs.document,
                                .ingest = ingest_options(inputs.question)};
  std::optional<Lever> lever = lever_of(question, *ladder);
  const Fit& now = findings.fits.front();
  const bool saves = !lever || lever->trial.needed <= now.needed - Bytes(now.needed.count() / worth_a_line);
  if (!now.at_least && !saves) return std::nullopt;
  return lever;
}

std::optional<OtherVersion> version_in(const Findings& findings, const OutlookInputs& inputs) {
  const IngestOptions options = ingest_options(inputs.question);
  return other_version_of({inputs.document, options, *findings.plan, *findings.architecture,
                           findings.footprint->peak.tensors(),
                           findings.fits.empty() ? nullptr : &findings.fits.front().gpu, inputs.question.headroom});
}

}  // namespace

Outlook outlook_of(const Findings& findings, Replays& replays, const OutlookInputs& inputs) {
  Outlook out;
  if (findings.fits.size() > 1 || findings.ranks.size() > 1 || replays.events() > most_events) return out;
  const bool decided = findings.fits.size() == 1 && findings.fits.front().verdict != FitVerdict::undecided;
  if (inputs.question.cards_alone) {
    out.cards = cards_for(findings, replays, inputs.catalog, inputs.question.headroom);
    return out;
  }
  std::vector<std::function<void()>> tasks;
  if (decided) tasks.emplace_back([&] { out.lever = lever_in(findings, inputs); });
  if (decided) tasks.emplace_back([&] { out.room = room_in(findings, inputs); });
  tasks.emplace_back([&] { out.version = version_in(findings, inputs); });
  tasks.emplace_back([&] { out.cards = cards_for(findings, replays, inputs.catalog, inputs.question.headroom); });
  for_each_index(tasks.size(), [&](std::size_t i) { tasks[i](); });
  return out;
}

}  // namespace oomplan::cli
