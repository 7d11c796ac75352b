#include <algorithm>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

/// Which value each axis has at point `i`.
std::vector<std::size_t> places_at(const std::vector<Axis>& axes, std::size_t i) {
  std::vector<std::size_t> out(axes.size());
  for (std::size_t a = axes.size(); a-- > 0; i /= axes[a].values.size()) out[a] = i % axes[a].values.size();
  return out;
}

/// What lies between two neighbours along axis `a`.
std::vector<std::size_t> strides_of(const std::vector<Axis>& axes) {
  std::vector<std::size_t> out(axes.size(), 1);
  for (std::size_t a = axes.size(); a-- > 1;) out[a - 1] = out[a] * axes[a].values.size();
  return out;
}

/// For each point: does all fit that is as small in every number, itself included? What is not known stands in no way.
std::vector<bool> fits_here_and_below(const Sweep& sweep) {
  std::vector<bool> out;
  for (const SweepPoint& point : sweep.points) out.push_back(point.fits || !point.undecided.empty());
  const std::vector<std::size_t> strides = strides_of(sweep.axes);
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (!sweep.axes[a].numbers) continue;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t place = i / strides[a] % sweep.axes[a].values.size();
      if (place > 0 && !out[i - strides[a]]) out[i] = false;
    }
  }
  return out;
}

/// For each point: is one set in `out` that is as large in every number, itself included? Axis by axis, from the
/// largest down.
std::vector<bool> here_or_above(const Sweep& sweep, std::vector<bool> out) {
  const std::vector<std::size_t> strides = strides_of(sweep.axes);
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (!sweep.axes[a].numbers) continue;
    for (std::size_t i = out.size(); i-- > 0;) {
      const std::size_t place = i / strides[a] % sweep.axes[a].values.size();
      if (place + 1 < sweep.axes[a].values.size() && out[i + strides[a]]) out[i] = true;
    }
  }
  return out;
}

/// Whether from its first value to its last less is needed, along every line that is known at both: of more GPUs each
/// holds less, and none is "larger" than another.
bool lessens(const Sweep& sweep, std::size_t a) {
  const std::size_t stride = strides_of(sweep.axes)[a];
  const std::size_t last = (sweep.axes[a].values.size() - 1) * stride;
  bool any = false;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (i / stride % sweep.axes[a].values.size() != 0) continue;
    const SweepPoint& low = sweep.points[i];
    const SweepPoint& high = sweep.points[i + last];
    if (!low.undecided.empty() || !high.undecided.empty()) continue;
    if (low.needed <= high.needed) return false;
    any = true;
  }
  return any;
}

double product(const Sweep& sweep, std::size_t i) {
  double out = 1;
  const std::vector<std::size_t> places = places_at(sweep.axes, i);
  for (std::size_t a = 0; a < places.size(); ++a)
    if (sweep.axes[a].numbers) out *= parse_number(sweep.axes[a].values[places[a]]).value_or(1);
  return out;
}

bool something_above(const Sweep& sweep, const std::vector<bool>& above, const std::vector<std::size_t>& strides,
                     std::size_t i) {
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const std::size_t place = i / strides[a] % sweep.axes[a].values.size();
    if (sweep.axes[a].numbers && place + 1 < sweep.axes[a].values.size() && above[i + strides[a]]) return true;
  }
  return false;
}

Result<SweepPoint> answer(const TrainingPlan& plan, const Architecture& architecture, const Sweep& sweep,
                          const HostCheck& host) {
  FitCheck fit_check(plan, architecture);
  const CheckedFit fit = fit_check.on(sweep.gpu, limit_of(sweep.gpu, sweep.headroom));
  if (!fit.errors.empty()) return fit.errors;
  SweepPoint out{.needed = fit.needed, .at_least = fit.at_least, .fits = fit.fits, .replayed = fit_check.replayed()};
  if (!host || !out.fits) return out;
  HostHeld held = host(plan, architecture, paged_out_of(sweep.gpu, fit.paged_to_host));
  out.host = std::move(held.fits);
  out.fits = too_small(out.host) == nullptr;
  if (out.fits && !held.errors.empty()) return held.errors;
  return out;
}

Result<SweepPoint> point_at(const Document& document, const IngestOptions& options, const Sweep& sweep, std::size_t i,
                            const ModelFinder& models, const HostCheck& host) {
  IngestOptions here = options;
  const std::vector<std::string> values = values_at(sweep.axes, i);
  for (std::size_t a = 0; a < values.size(); ++a) here.overrides.push_back(sweep.axes[a].key + "=" + values[a]);
  Result<TrainingPlan> plan = plan_on(document, here, {sweep.gpu}, sweep.headroom, models);
  if (!plan) return plan.errors();
  const Result<Architecture>& architecture = models(*plan);
  if (!architecture) return architecture.errors();
  plan = with_model_defaults(std::move(*plan), *architecture);
  return plan ? answer(*plan, *architecture, sweep, host) : plan.errors();
}

}  // namespace

SweepPoint sweep_point(const Document& document, const IngestOptions& options, const Sweep& sweep, std::size_t i,
                       const ModelFinder& models, const HostCheck& host) {
  const Result<SweepPoint> point = point_at(document, options, sweep, i, models, host);
  if (point) return *point;
  const Diagnostic& why = point.errors().front();
  return {.undecided = why.message, .code = why.code};
}

Diagnostics errors_at(const Document& document, const IngestOptions& options, const Sweep& sweep, std::size_t i,
                      const ModelFinder& models, const HostCheck& host) {
  const Result<SweepPoint> point = point_at(document, options, sweep, i, models, host);
  return point ? Diagnostics() : point.errors();
}

void find_frontier(Sweep& sweep) {
  for (std::size_t a = 0; a < sweep.axes.size(); ++a)
    sweep.axes[a].numbers = sweep.axes[a].numbers && !lessens(sweep, a);
  std::vector<bool> sound = fits_here_and_below(sweep);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (sweep.points[i].fits && !sound[i]) sweep.lucky.push_back(i);
    sound[i] = sound[i] && sweep.points[i].fits;
  }
  const std::vector<bool> above = here_or_above(sweep, sound);
  const std::vector<std::size_t> strides = strides_of(sweep.axes);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sound[i] || something_above(sweep, above, strides, i)) continue;
    sweep.frontier.push_back(i);
    if (!sweep.largest || product(sweep, i) > product(sweep, *sweep.largest)) sweep.largest = i;
  }
}

}  // namespace oomplan
