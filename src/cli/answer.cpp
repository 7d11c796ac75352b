#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "calibrated.hpp"
#include "cards.hpp"
#include "codes.hpp"
#include "errors.hpp"
#include "find_architecture.hpp"
#include "input.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/estimate/host_check.hpp"
#include "oomplan/read/named_document.hpp"
#include "oomplan/survey/survey.hpp"
#include "open_numbers.hpp"
#include "options.hpp"
#include "outlook.hpp"
#include "recipe.hpp"
#include "replays.hpp"

namespace oomplan::cli {
namespace {

void append(Diagnostics& all, const Diagnostics& more) { all.insert(all.end(), more.begin(), more.end()); }

std::vector<Gpu> gpus_of(const Question& question, const Catalog& catalog, Diagnostics& errors) {
  std::vector<Gpu> gpus;
  append(errors, check_counts(question.gpus));
  if (!errors.empty()) return gpus;
  for (const std::string& name : question.gpus) {
    Result<Gpu> gpu = find_gpu(cards_of(name).name, catalog);
    if (gpu) {
      gpus.push_back(std::move(*gpu));
    } else {
      append(errors, gpu.errors());
    }
  }
  return gpus;
}

/// Stages that see a plan know the line but not its text.
void add_excerpts(Diagnostics& diagnostics, const Document& document) {
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.excerpt.empty()) diagnostic.excerpt = document.excerpt(diagnostic.where);
  }
}

// peft leaves a target that no module has aside without a word, as long as another is found.
void warn_of_unmatched(TrainingPlan& plan, const Footprint& footprint) {
  for (const std::string& target : footprint.unmatched_targets) {
    plan.warnings.push_back({Severity::warning,
                             "estimate/unmatched-target",
                             "no module of the model is the LoRA target \"" + target + "\"; it has no effect",
                             plan.adapter.targets.origin.where,
                             {},
                             {}});
  }
}

void warn_of_scans(TrainingPlan& plan, const Footprint& footprint) {
  const Setting<bool>& packages = plan.kernels.scan_packages;
  if (!footprint.scans || packages.origin.kind != Origin::Kind::assumed) return;
  if (packages.value) {
    plan.warnings.push_back(
        {.severity = Severity::warning,
         .code = "estimate/assumed-kernels",
         .message = "the model's linear-attention layers run in kernels: " + packages.origin.source +
                    ", as is assumed; where Triton meets them for the first time on a machine it takes 256 MiB more in "
                    "the first step",
         .hint = "say `--set scan_packages=false` if it is not, or `=true` if it is"});
    return;
  }
  plan.warnings.push_back(
      {.severity = Severity::warning,
       .code = "estimate/assumed-kernels",
       .message = "the model's state-space or linear-attention layers run in transformers' own code: " +
                  plan.kernels.scan_packages.origin.source + ", as is assumed; with them less is needed",
       .hint = "say `--set scan_packages=false` if that is so"});
}

// A script holds and runs them beside the denoiser, unless it has cached what they make.
void warn_of_ready_made(TrainingPlan& plan, const Architecture& model) {
  if (model.task != Task::denoising) return;
  plan.warnings.push_back(
      {.severity = Severity::warning,
       .code = "estimate/ready-made",
       .message = "latents and embeddings of texts are assumed to come ready made: the VAE and the "
                  "text encoders are not in the number",
       .hint = "a script that holds them on the GPU needs their weights, and what they make, more"});
}

void warn_of_cache(TrainingPlan& plan) {
  if (!has_vllm(plan.recipe)) return;
  if (plan.kernels.unsloth.value != UnslothLayers::none) return;  // Its part of the card is nearly all of it.
  plan.warnings.push_back(
      {.severity = Severity::warning,
       .code = "estimate/vllm-cache",
       .message = "vLLM stops the run where its part of the GPU has no room for its weights and a cache of one row of "
                  "vllm_max_model_length tokens (all that the model takes, where nothing says it): that is not looked "
                  "at",
       .hint = "vllm_max_model_length: the longest prompt and max_completion_length together"});
}

void estimate_model(Findings& findings, Detail detail) {
  Result<TrainingPlan> plan = with_model_defaults(*findings.plan, *findings.architecture);
  if (!plan) return append(findings.diagnostics, plan.errors());
  findings.plan = std::move(*plan);
  Result<Footprint> footprint = estimate(*findings.plan, *findings.architecture, detail);
  if (footprint) {
    warn_of_unmatched(*findings.plan, *footprint);
    warn_of_scans(*findings.plan, *footprint);
    warn_of_ready_made(*findings.plan, *findings.architecture);
    warn_of_cache(*findings.plan);
    findings.footprint = std::move(*footprint);
  } else {
    append(findings.diagnostics, footprint.errors());
  }
}

/// Whether it is one of several that what names it leaves.
bool guesses_version(const TrainingPlan& plan) {
  return std::ranges::count(plan.warnings, "ingest/assumed-version", &Diagnostic::code) > 0;
}

/// Whether a version is said of one of the packages in "trl 1.16.0 on transformers 5.23.0".
bool names_framework(const IngestOptions& options, const std::string& framework) {
  return std::ranges::any_of(options.versions, [&](const NamedVersion& one) {
    return (" " + framework).find(" " + one.package + " ") != std::string::npos;
  });
}

/// The plan as the document says it; of a config that leaves nothing but the rows' length open one that decides, where
/// there is one.
Result<TrainingPlan> plan_of(Findings& findings, const Document& document, const Question& question,
                             const std::vector<Gpu>& gpus, const Catalog& catalog) {
  const IngestOptions options = ingest_options(question);
  Result<TrainingPlan> plan = ingest(document, options);
  if (plan || !question.open_numbers || gpus.empty()) return plan;
  const auto open = [&](std::optional<TrainingPlan> with) {
    return opened(document, options, std::move(with), catalog);
  };
  findings.lengths = lengths_on(gpus, open(plan_but_for_length(document, options)), question.headroom);
  findings.worlds = worlds_on(gpus, open(plan_but_for_world(document, options)), question.headroom);
  const std::optional<std::int64_t> length = deciding_length(findings.lengths);
  if (!length) return plan;
  IngestOptions decided = options;
  decided.overrides.push_back(with_length(*length));
  plan = ingest(document, decided);
  if (plan) say_deciding_length(findings.lengths.front().any_fits(), *plan);
  return plan;
}

bool is_missing(const Diagnostic& one) { return one.code == "ingest/missing-fact"; }

void read_and_estimate(Findings& findings, const Question& question, const std::vector<Gpu>& gpus,
                       const Catalog& catalog, std::optional<Document>& document) {
  Result<ReadConfig> read = question.given ? Result<ReadConfig>(ReadConfig{*question.given, {}})
                                           : config_or_recipe(question.config, question.recipe, catalog);
  if (!read) return append(findings.diagnostics, read.errors());
  document = std::move(read->document);
  findings.recipe = std::move(read->recipe);
  Result<TrainingPlan> plan = plan_of(findings, *document, question, gpus, catalog);
  findings.versions_assumed = true;
  if (plan) {
    findings.plan = std::move(*plan);
    findings.versions_assumed =
        guesses_version(*findings.plan) || !names_framework(ingest_options(question), findings.plan->framework);
    if (question.alloc_conf) findings.plan->runtime.alloc_conf = *question.alloc_conf;
    if (find_architecture(findings, catalog))
      estimate_model(findings, question.replay ? Detail::events : Detail::groups);
    return;
  }
  append(findings.diagnostics, plan.errors());
  if (!question.open_numbers || !findings.lengths.empty() || !findings.worlds.empty()) return;
  const Diagnostics beside = reasons_beside(*document, ingest_options(question), catalog, findings.diagnostics);
  // What is refused whatever the numbers are needs none of them.
  if (verdict_of(beside) == Verdict::invalid) std::erase_if(findings.diagnostics, is_missing);
  append(findings.diagnostics, beside);
}

void warn_of_assumed_totals(TrainingPlan& plan, const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) {
    if (!gpu.total_assumed) continue;
    plan.warnings.push_back({.severity = Severity::warning,
                             .code = "catalog/assumed-total",
                             .message = "what CUDA reports of an " + gpu.title + " is worked out: " + gpu.total_source,
                             .hint = "give what torch.cuda.mem_get_info()[1] says on the card as --gpu SIZE"});
  }
}

/// Figures without a card have no range beside them.
void warn_of_open_layers(TrainingPlan& plan) {
  const std::optional<Diagnostic> open = open_layers_of(plan);
  if (!open) return;
  plan.warnings.push_back(
      {.severity = Severity::warning,
       .code = "estimate/open-layers",
       .message = "which layers the checkpoint leaves in 16 bits only its config.json says: all are counted, "
                  "so that the figures are the most that the run can need",
       .where = open->where,
       .hint = open->hint});
}

/// What a run is held against.
struct HeldCards {
  std::vector<Gpu> gpus{};
  double headroom = usual_headroom;
  TermsOfCards terms{};  ///< Of each card; empty without a calibration.
};

Fit fit_or_undecided(Findings& findings, const Reservation& reservation, const Gpu& gpu, double headroom) {
  std::optional<Diagnostic> undecided = undecided_on(*findings.plan, *findings.footprint, gpu);
  if (!undecided) undecided = undecided_on(reservation, gpu, *findings.plan);
  if (!undecided) {
    Fit held = fit(reservation, gpu, paged_of(*findings.footprint), *findings.plan, findings.unknown, headroom);
    if (held.may_fit()) undecided = open_layers_of(*findings.plan);
    if (!undecided) return held;
    const Range range = held.range();
    undecided->message +=
        fmt::format(" {}: it needs between {} and {}", gpu.title, to_text(range.lower), to_text(range.upper));
  }
  findings.diagnostics.push_back(std::move(*undecided));
  return {.gpu = gpu, .verdict = FitVerdict::undecided};
}

RankAnswer deciding_rank(const Findings& findings, RankKind kind) {
  RankAnswer out{std::move(kind), findings.footprint->peak};
  for (const Fit& fit : findings.fits) {
    out.needed.push_back(fit.verdict == FitVerdict::undecided ? std::nullopt : std::optional(fit.needed));
  }
  return out;
}

/// Of each GPU the rank counts that needs most of it.
RankAnswer other_rank(Findings& findings, RankKind kind, Footprint footprint, const AllocatorSettings& settings,
                      const HeldCards& cards) {
  Replays replays(footprint, settings, cards.gpus);
  count_reserved(footprint, replays.first().reserved());
  RankAnswer out{std::move(kind), footprint.peak};
  for (Fit& worst : findings.fits) {
    out.needed.push_back(std::nullopt);
    if (worst.verdict == FitVerdict::undecided) continue;
    Fit held = fit(replays.with(worst.gpu), worst.gpu, worst.paged, *findings.plan, findings.unknown, cards.headroom);
    out.needed.back() = held.needed;
    if (held.is_worse_than(worst)) worst = std::move(held);
  }
  return out;
}

/// The kinds after the first are played here; there are some only where FSDP2's shards are uneven, and of a pipeline.
void add_ranks(Findings& findings, std::vector<RankKind> kinds, const AllocatorSettings& settings,
               const HeldCards& cards) {
  for (RankKind& kind : kinds) {
    if (&kind == &kinds.front()) {
      findings.ranks.push_back(deciding_rank(findings, std::move(kind)));
      continue;
    }
    Result<Footprint> footprint = estimate_shard(*findings.plan, *findings.architecture, kind.shard);
    if (!footprint) return append(findings.diagnostics, footprint.errors());
    findings.ranks.push_back(other_rank(findings, std::move(kind), std::move(*footprint), settings, cards));
  }
}

/// What a rank needs of the first card, or without one what it reserves.
Bytes need_of(const Findings& findings, Footprint& footprint, const AllocatorSettings& settings,
              const HeldCards& cards) {
  Replays replays(footprint, settings, cards.gpus);
  if (!cards.gpus.empty()) {
    const Gpu& gpu = cards.gpus.front();
    return fit(replays.with(gpu), gpu, paged_of(footprint), *findings.plan, findings.unknown, cards.headroom).needed;
  }
  count_reserved(footprint, replays.first().reserved());
  return footprint.peak.total;
}

/// Of a pipeline the rank with the most tensors, whose footprint estimate() gives, is not always the one that needs
/// most: its footprint takes the place.
void put_worst_first(Findings& findings, std::vector<RankKind>& kinds, const AllocatorSettings& settings,
                     const HeldCards& cards) {
  if (!is_pipelined(findings.plan->mesh)) return;
  std::size_t worst = 0;
  Bytes most;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Result<Footprint> footprint = estimate_shard(*findings.plan, *findings.architecture, kinds[i].shard);
    if (!footprint) return append(findings.diagnostics, footprint.errors());
    const Bytes need = need_of(findings, *footprint, settings, cards);
    if (need <= most) continue;
    most = need;
    worst = i;
  }
  if (worst == 0) return;
  Result<Footprint> footprint = estimate_shard(*findings.plan, *findings.architecture, kinds[worst].shard);
  if (!footprint) return append(findings.diagnostics, footprint.errors());
  findings.footprint = std::move(*footprint);
  const auto at = kinds.begin() + static_cast<std::ptrdiff_t>(worst);
  std::rotate(kinds.begin(), at, at + 1);
}

/// What else is asked of a run that is held against cards, or null.
using Beyond = std::function<void(Findings&, Replays&)>;

/// The version of torch that the run is said to have; "" where nobody says one.
std::string torch_of(const Question& question) {
  for (const NamedVersion& one : ingest_options(question).versions)
    if (one.package == "torch") return one.version;
  return {};
}

std::vector<AskedCard> cards_asked(const Question& question, const std::vector<Gpu>& gpus) {
  std::vector<AskedCard> out;
  for (std::size_t i = 0; i < gpus.size(); ++i) out.push_back({cards_of(question.gpus[i]).name, gpus[i]});
  return out;
}

/// The cards with what a calibration says of them.
Result<HeldCards> calibrated(Findings& findings, const Question& question, const std::vector<Gpu>& gpus,
                             const Catalog& catalog) {
  HeldCards out{gpus, question.headroom, {}};
  if (question.calibration.empty()) return out;
  Result<TermsOfCards> terms = terms_for(cards_asked(question, gpus), question.calibration, torch_of(question), catalog,
                                         findings.plan->warnings);
  if (!terms) return terms.errors();
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if ((*terms)[i]) out.gpus[i] = with_terms(gpus[i], *(*terms)[i], findings.footprint->peak.total);
  out.terms = std::move(*terms);
  return out;
}

/// What is reserved without a card is that of the first.
void show_calibration(Findings& findings, const HeldCards& cards, Bytes peak) {
  for (std::size_t i = 0; i < cards.terms.size() && i < findings.fits.size(); ++i)
    if (cards.terms[i] && findings.fits[i].verdict != FitVerdict::undecided)
      show_terms(findings.fits[i], *cards.terms[i], peak);
  const bool applied = std::ranges::any_of(cards.terms, [](const auto& terms) { return terms.has_value(); });
  if (applied && findings.outlook) findings.outlook->cards = {};  // they are without terms
  if (!cards.terms.empty() && cards.terms.front()) show_terms(*findings.reserved, *cards.terms.front(), peak);
}

void hold_against(Findings& findings, const HeldCards& cards, const Beyond& beyond, bool replay) {
  const Setting<std::string>& conf = findings.plan->runtime.alloc_conf;
  const bool configured = conf.origin.kind == Origin::Kind::config;
  const Result<AllocatorSettings> settings = parse_alloc_conf(conf.value, configured ? "" : conf.origin.source);
  if (!settings) {
    append(findings.diagnostics, placed(settings.errors(), conf.origin));
    return findings.footprint.reset();
  }
  warn_of_assumed_totals(*findings.plan, cards.gpus);
  warn_of_open_layers(*findings.plan);
  if (!replay) return;
  Result<std::vector<RankKind>> kinds = rank_kinds(*findings.plan, *findings.architecture);
  if (!kinds) return append(findings.diagnostics, kinds.errors());
  put_worst_first(findings, *kinds, *settings, cards);
  const Bytes peak = findings.footprint->peak.total;  // before what is reserved is counted
  findings.unknown = unknown_of(*findings.plan, *findings.architecture, *findings.footprint);
  Replays replays(*findings.footprint, *settings, cards.gpus, static_cast<bool>(beyond));
  for (const Gpu& gpu : cards.gpus) {
    findings.fits.push_back(fit_or_undecided(findings, replays.with(gpu), gpu, cards.headroom));
  }
  findings.reserved = replays.first().reserved();
  count_reserved(*findings.footprint, *findings.reserved);
  add_ranks(findings, std::move(*kinds), *settings, cards);
  if (beyond) beyond(findings, replays);  // on the cards as the run finds them
  show_calibration(findings, cards, peak);
}

/// What the worst of the cards has no room for; without a card all of it.
PagedOut paged_out(const Findings& findings) {
  if (!findings.footprint) return {};
  if (findings.fits.empty()) return {paged_of(*findings.footprint), "without --gpu all of it"};
  const Fit& worst = *std::ranges::max_element(findings.fits, {}, &Fit::paged_to_host);
  return paged_out_of(worst.gpu, worst.paged_to_host());
}

void ask_host(Findings& findings, const HostQuestion& question, const Catalog& catalog) {
  if (!question.is_asked()) return;
  std::optional<HostModel> model;
  if (findings.footprint) model = host_model(*findings.plan, *findings.architecture, *findings.footprint);
  Result<HostAnswer> host =
      answer_host(question, *findings.plan, model ? &*model : nullptr, paged_out(findings), catalog);
  if (!host) {
    append(findings.diagnostics, host.errors());
    return findings.footprint.reset();
  }
  if (host->profile) append(findings.diagnostics, host->profile->warnings);
  append(findings.diagnostics, undecided_on(*host));
  findings.host = std::move(*host);
}

Verdict verdict_after(const Findings& findings) {
  if (!findings.footprint) return verdict_of(findings.diagnostics);
  const std::vector<HostFit> limits = findings.host ? findings.host->fits : std::vector<HostFit>{};
  if (findings.fits.empty() && limits.empty()) return Verdict::answered;
  const auto any = [&](FitVerdict verdict) {
    return std::ranges::count(findings.fits, verdict, &Fit::verdict) > 0 ||
           std::ranges::count(limits, verdict, &HostFit::verdict) > 0;
  };
  // One limit that is too small stops the run, whatever is not known of another.
  if (any(FitVerdict::does_not_fit)) return Verdict::does_not_fit;
  if (std::ranges::count(findings.fits, FitVerdict::at_the_edge, &Fit::verdict) > 0) return Verdict::does_not_fit;
  return any(FitVerdict::undecided) ? Verdict::undecided : Verdict::fits;
}

}  // namespace

namespace {

Diagnostic read_for_one_gpu(const Document& launcher) {
  return {Severity::warning,
          "ingest/assumed-trainer",
          "read for one GPU; accelerate launch takes as many as the machine has where --num_processes does not say",
          {launcher.file, 0, 0},
          "--gpu 8xh100 says that there are eight",
          {}};
}

}  // namespace

IngestOptions ingest_options(const Question& question) {
  const std::string option = question.trainer.empty() ? "" : "--trainer " + question.trainer;
  IngestOptions out{.dialect = question.dialect,
                    .overrides = question.overrides,
                    .loader = read_named_document,
                    .trainer = question.trainer,
                    .trainer_said = question.trainer_said.empty() ? option : question.trainer_said,
                    .launch = question.launch,
                    .world = world_of(question.gpus),
                    .older_gpu = older_gpu(question.gpus)};
  if (out.world.each == 0) out.world = question.world;
  if (question.launcher) {
    out.launch.push_back(question.launcher->file);
    if (out.world.each == 0) out.unread.push_back(read_for_one_gpu(*question.launcher));
    out.loader = [launcher = *question.launcher](const std::string& path) {
      return path == launcher.file ? Result<Document>(launcher) : read_named_document(path);
    };
  }
  name_versions(question.versions, out);
  if (!question.config.empty()) name_versions_beside(question.config, out);
  return out;
}

std::vector<std::string> files_of(const Question& question, const std::optional<Document>& document) {
  constexpr int most = 100'000;
  const IngestOptions options = ingest_options(question);
  std::vector<std::string> out = document ? config_files(*document, options) : config_files(question.config, options);
  const auto& requirements = question.versions.requirements;
  out.insert(out.end(), requirements.begin(), requirements.end());
  if (!question.host.loader.empty()) out.push_back(question.host.loader);
  if (!question.calibration.empty()) out.push_back(question.calibration);
  if (question.models.empty()) return out;
  std::error_code error;
  int seen = 0;
  for (std::filesystem::recursive_directory_iterator at(question.models, error), end;
       !error && at != end && seen < most; at.increment(error), ++seen) {
    out.push_back(at->path().string());
  }
  return out;
}

Findings answer(const Question& question, std::optional<Document>* kept) {
  Findings findings{.config = question.config};
  std::optional<Document> document;
  if (const Result<Catalog> catalog = catalog_here(question.models)) {
    const std::vector<Gpu> gpus = gpus_of(question, *catalog, findings.diagnostics);
    if (findings.diagnostics.empty()) read_and_estimate(findings, question, gpus, *catalog, document);
    const auto beyond = [&](Findings& found, Replays& replays) {
      found.outlook = outlook_of(found, replays, {question, *document, *catalog});
    };
    if (findings.footprint) {
      const Result<HeldCards> cards = calibrated(findings, question, gpus, *catalog);
      if (cards) hold_against(findings, *cards, question.outlook ? Beyond(beyond) : Beyond(), question.replay);
      if (!cards) append(findings.diagnostics, cards.errors());
      if (!cards) findings.footprint.reset();
    }
    if (findings.plan) ask_host(findings, question.host, *catalog);
    if (document) add_excerpts(findings.diagnostics, *document);
  } else {
    append(findings.diagnostics, catalog.errors());
  }
  findings.verdict = verdict_after(findings);
  if (kept != nullptr) *kept = std::move(document);
  return findings;
}

}  // namespace oomplan::cli
