#include <fmt/format.h>

#include <algorithm>

#include "cards.hpp"
#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/plan/trainer.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

std::string_view words_of(FitVerdict verdict) {
  switch (verdict) {
    case FitVerdict::fits:
      return "fits";
    case FitVerdict::at_the_edge:
      return "fits, but with too little headroom,";
    case FitVerdict::does_not_fit:
      return "does not fit";
    case FitVerdict::undecided:
      return "cannot be decided";
  }
  return {};
}

Paint paint_of(const Fit& fit) {
  return fit.verdict == FitVerdict::fits ? Paint::green : fit.ends() ? Paint::bold : Paint::red;
}

// Where nobody said whose trainer it is, the verdict hangs on that; on the length of rows, where it is here, it does
// not.
std::string if_assumed(const Report& report) {
  const std::string note = report.found.plan ? assumed_trainer(*report.found.plan) : "";
  const std::string_view lengths = report.found.lengths.empty() ? "" : ", with rows of any length";
  return std::string(lengths) + (note.empty() ? "" : " (" + note + ")");
}

/// "fits, with 1.20 GiB paged to the host".
std::string words_of(const Fit& fit) {
  std::string words(words_of(fit.verdict));
  if (!fit.ends() || fit.paged_to_host() == Bytes(0)) return words;
  if (!words.ends_with(',')) words += ',';
  return words + " with " + oomplan::to_text(fit.paged_to_host()) + " paged to the host";
}

/// "9.80 GiB free"; where it is short, what is wanted too.
std::string headroom_text(const Fit& fit) {
  const std::string left = oomplan::to_text(fit.headroom) + " free";
  if (fit.fits()) return left;
  const std::string wanted = oomplan::to_text(fit.wanted);
  if (fit.headroom < fit.wanted) return left + " where " + wanted + " are wanted";
  return left + ", but it does not complete on every card that is up to " + wanted + " smaller";
}

std::string wrapped_line(const std::string& text, const ViewOptions& options) {
  return wrapped(text, 0, 2, options.width) + "\n";
}

std::string fit_line(const Report& report, const Fit& fit, const std::string& note, const ViewOptions& options) {
  std::string words = words_of(fit);
  if (fit.ends() && fit.paged_to_host() > Bytes(0)) words += ',';
  const std::string verdict = painted(words, paint_of(fit), options.colour);
  const std::string on = cards_text(report.found.plan ? gpu_count(*report.found.plan) : GpuCount(), fit.gpu);
  if (fit.verdict == FitVerdict::undecided) return wrapped_line(fmt::format("{} on {}{}", verdict, on, note), options);
  const std::string_view least = fit.at_least ? "at least " : "";
  const std::string rest =
      fit.ends() ? headroom_text(fit) : fmt::format("{}{} too much", least, oomplan::to_text(Bytes(0) - fit.headroom));
  return wrapped_line(fmt::format("{} on {}: needs {}{} of {}, {}{}", verdict, on, least, oomplan::to_text(fit.needed),
                                  oomplan::to_text(fit.gpu.total), rest, note),
                      options);
}

/// The card, or where more is needed what is: tensors, what lies beside them, what is free; a mark where the card ends.
std::string bar_line(const Report& report, const Fit& fit, const ViewOptions& options) {
  if (fit.verdict == FitVerdict::undecided || fit.gpu.total <= Bytes(0)) return {};
  constexpr std::size_t widest = 72;
  const std::size_t columns = std::min(options.width - 4, widest);
  const auto whole = static_cast<double>(std::max(fit.needed, fit.gpu.total).count());
  const auto place = [&](Bytes bytes) {
    return static_cast<std::size_t>(static_cast<double>(bytes.count()) / whole * static_cast<double>(columns) + 0.5);
  };
  const std::size_t tensors = place(std::min(report.found.footprint->peak.tensors(), fit.needed));
  const std::size_t needed = place(fit.needed);
  const std::size_t card = place(fit.gpu.total);
  std::string out = "  ";
  for (std::size_t i = 0; i < columns; ++i) {
    if (i == card) out += "│";
    out += i < tensors ? "█" : i < needed ? "▒" : "░";
  }
  return painted(out, paint_of(fit), options.colour) + "\n";
}

/// "NCCL communicators 544.00 MiB to 1.49 GiB".
std::string part_text(const Contribution& part) {
  if (part.lower == Bytes()) return fmt::format("{} up to {}", part.name, oomplan::to_text(part.upper));
  return fmt::format("{} {} to {}", part.name, oomplan::to_text(part.lower), oomplan::to_text(part.upper));
}

/// What of the figure is not known. It is the upper end, by which the verdict goes.
std::string range_line(const Fit& fit, const std::string& whose, const ViewOptions& options) {
  const Range range = fit.range();
  if (!range.is_open() || fit.verdict == FitVerdict::undecided) return {};
  if (oomplan::to_text(range.lower) == oomplan::to_text(range.upper)) return {};
  std::string parts;
  for (const Contribution& part : range.contributions) parts += (parts.empty() ? "" : ", ") + part_text(part);
  const std::string_view end = fit.may_fit() ? "; with the least of it the run would fit" : "";
  return wrapped_line(fmt::format("{}between {} and {}: {}{}", whose, oomplan::to_text(range.lower),
                                  oomplan::to_text(range.upper), parts, end),
                      options);
}

Row comparison_row(const Fit& fit) {
  const bool decided = fit.verdict != FitVerdict::undecided;
  std::string words = words_of(fit);
  if (words.ends_with(',')) words.pop_back();
  return {{fit.gpu.title},
          {oomplan::to_text(fit.gpu.total), true},
          {decided ? (fit.at_least ? "at least " : "") + oomplan::to_text(fit.needed) : "-", true},
          {decided ? oomplan::to_text(fit.headroom) : "-", true},
          {std::move(words), false, paint_of(fit)}};
}

std::string comparison(const std::vector<Fit>& fits, const std::string& note, const ViewOptions& options) {
  const auto fitting = std::ranges::count_if(fits, [](const Fit& fit) { return fit.fits(); });
  std::vector<Row> rows{{{"GPU"}, {"total", true}, {"needed", true}, {"headroom", true}}};
  for (Cell& cell : rows.front()) cell.paint = Paint::dim;
  for (const Fit& fit : fits) rows.push_back(comparison_row(fit));
  std::string out = fmt::format("fits on {} of {} GPUs{}\n{}", fitting, fits.size(), note,
                                aligned_within(rows, options.colour, options.width));
  for (const Fit& fit : fits) out += range_line(fit, fit.gpu.title + ": ", options);
  return out;
}

// Without a card: what the allocator makes of the peak, with room for all that it would keep and with the least.
std::string reserved_line(const Report& report, const ViewOptions& options) {
  if (!report.found.reserved) return {};
  const Reserved& reserved = *report.found.reserved;
  if (reserved.peak.saturated()) return "the allocator is not played on cards of more than 64 TiB\n";
  if (!report.found.fits.empty()) return {};
  return wrapped_line(fmt::format("PyTorch needs {} for it, and reserves {} where there is room; a CUDA context comes "
                                  "on top",
                                  oomplan::to_text(reserved.smallest), oomplan::to_text(reserved.peak)),
                      options);
}

// What people read off a run: PyTorch's own peaks, and the driver's figure for the process.
std::string shown_line(const Fit& fit, const ViewOptions& options) {
  if (!fit.torch) return {};
  constexpr int shows = 50;  // a part of the whole
  const bool kernels = fit.torch->kernels * shows > fit.torch->allocated;
  const std::string of_kernels =
      " (" + oomplan::to_text(fit.torch->kernels) + " of it in CUDA kernels, beside tensors)";
  const bool keeps = fit.nvidia_smi() > fit.needed;
  return wrapped_line(
      fmt::format("a run shows max_memory_allocated {}{}, max_memory_reserved {}, {} {}{}",
                  oomplan::to_text(fit.torch->allocated), kernels ? of_kernels : "",
                  oomplan::to_text(fit.torch->reserved), fit.gpu.title.starts_with("AMD") ? "rocm-smi" : "nvidia-smi",
                  oomplan::to_text(fit.nvidia_smi()),
                  keeps ? ": PyTorch keeps what was freed while there is room" : ""),
      options);
}

std::string paged_line(const Report& report, const ViewOptions& options) {
  Bytes paged;
  for (const PhasePeak& peak : report.found.footprint->peaks)
    paged = std::max(paged, at(peak.by_bucket, Bucket::paged));
  if (paged == Bytes(0)) return {};
  return wrapped_line(
      fmt::format("paged {} of optimizer state beside it: on the card while there is room, else in host RAM",
                  oomplan::to_text(paged)),
      options);
}

/// Where ranks differ: of which kind the figures are, and the most that others hold.
std::string ranks_line(const Report& report, const ViewOptions& options) {
  const std::vector<RankAnswer>& ranks = report.found.ranks;
  if (ranks.size() < 2) return {};
  std::string out = "of the rank that needs most (" + ranks.front().kind.name + "); tensors of the others:";
  constexpr std::size_t most_told = 4;
  for (std::size_t i = 1; i < std::min(ranks.size(), most_told); ++i) {
    out += fmt::format("{} {} in {}", i == 1 ? "" : ",", oomplan::to_text(ranks[i].peak.tensors()), ranks[i].kind.name);
  }
  if (ranks.size() > most_told) out += fmt::format(", and {} kinds more", ranks.size() - most_told);
  return wrapped_line(out, options);
}

/// A version that nobody named, and that is not the newest.
std::string by_keys_line(const Report& report, const ViewOptions& options) {
  const TrainingPlan& plan = *report.found.plan;
  if (std::ranges::count(plan.warnings, "ingest/assumed-version", &Diagnostic::code) == 0) return {};
  return wrapped_line(plan.framework + " is assumed, as a warning explains (say which with --framework)", options);
}

/// Versions that somebody named and nobody measured: the number is another's.
std::string nearest_line(const Report& report, const ViewOptions& options) {
  if (!report.found.plan) return {};
  std::string out;
  for (const Diagnostic& one : report.found.plan->warnings) {
    if (one.code == "ingest/nearest-version") out += (out.empty() ? "" : "; ") + printable(one.message);
  }
  return out.empty() ? out : wrapped_line(out, options);
}

/// The same config under another version of its framework, where nobody says which it is.
std::string version_line(const Report& report, const ViewOptions& options) {
  if (!report.found.outlook || !report.found.outlook->version) return by_keys_line(report, options);
  const OtherVersion& version = *report.found.outlook->version;
  const std::string size = (version.at_least ? "at least " : "") + oomplan::to_text(version.needed);
  const std::string other = version.package + " " + version.other;
  const std::string what = !version.on_card
                               ? "the peak with " + other + " is " + size
                               : other + " needs " + size + (version.fits ? ", which fits" : ", which does not fit");
  return wrapped_line(
      fmt::format("{} {} is assumed: {} (say which with --framework)", version.package, version.taken, what), options);
}

}  // namespace

std::string moment_text(const PhasePeak& peak) {
  if (peak.step == 0) return std::string(name_of(peak.phase));
  return fmt::format("{} of step {}", name_of(peak.phase), peak.step);
}

std::string verdict_section(const Report& report, const ViewOptions& options) {
  const std::vector<Fit>& fits = report.found.fits;
  const std::string note = if_assumed(report);
  const std::string version = version_line(report, options) + nearest_line(report, options);
  const std::string tensors = peak_text(report, fits.empty() ? note : "", options);
  if (options.verdict_only) {
    if (fits.empty()) return tensors;
    return fits.size() > 1 ? comparison(fits, note, options) : fit_line(report, fits.front(), note, options);
  }
  const std::string lines = tensors + (fits.empty() ? version : "") + ranks_line(report, options) +
                            reserved_line(report, options) + paged_line(report, options);
  if (fits.empty()) return lines;
  if (fits.size() > 1) return comparison(fits, note, options) + lines;
  const Fit& fit = fits.front();
  return fit_line(report, fit, note, options) + bar_line(report, fit, options) + version +
         range_line(fit, "", options) + lines + (options.terse >= 2 ? "" : shown_line(fit, options));
}

}  // namespace oomplan::report
