// Configs held against the cards that a policy names for them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/gpu_count.hpp"

namespace oomplan {

/// Configs that go against the same cards.
struct GateRule {
  std::vector<std::string> configs{};  ///< Patterns; of paths as glob_matches() has them.
  std::vector<Gpu> gpus{};
  double headroom = 0;            ///< Of each card's total, 0 to 1.
  std::optional<Bytes> budget{};  ///< How much the peak may grow against the baseline; nothing: any.
  Location where{};               ///< Of the patterns; none where it is for all.
};

struct Policy {
  std::string file{};                          ///< As its user named it; empty where the command line says all.
  std::vector<GateRule> rules{};               ///< The first that means a config counts.
  std::vector<std::string> allow_undecided{};  ///< Patterns.
  Location allow_where{};                      ///< Of these.
};

enum class GateVerdict : std::uint8_t { fits, does_not_fit, over_budget, undecided, allowed, invalid };
inline constexpr std::array<std::string_view, 6> gate_verdict_names{"fits",      "does_not_fit", "over_budget",
                                                                    "undecided", "allowed",      "invalid"};
constexpr std::string_view name_of(GateVerdict verdict) {
  return gate_verdict_names[static_cast<std::size_t>(verdict)];
}

/// A config on one card.
struct GateCheck {
  Gpu gpu{};
  Bytes limit{};            ///< The card less the headroom.
  Bytes needed{};           ///< As in Fit.
  bool at_least = false;    ///< The tensors alone are too much, so `needed` is a bound from below.
  bool fits = false;        ///< Within the limit.
  Bytes paged_to_host{};    ///< As in Fit.
  std::string undecided{};  ///< Why there is no figure.
};

/// A setting that is not what it was.
struct SettingChange {
  std::string key{};  ///< As the config has it; else the fact of the plan.
  std::string before{};
  std::string after{};
};

/// The config against its former state.
struct PeakGrowth {
  Bytes before{};  ///< The peak of the tensors then.
  Bytes by{};      ///< Negative where it has shrunk.
  std::vector<SettingChange> changes{};
};

/// Text of the config that other text takes the place of: from a line and column up to, not including, another one;
/// counted from 1, columns in UTF-16.
struct GateReplacement {
  int line = 1;
  int column = 1;
  int end_line = 1;
  int end_column = 1;
  std::string text{};
};

/// The cheapest change of the config after which it fits on every card of its rule.
struct GateFix {
  std::string about{};
  std::vector<GateReplacement> replacements{};
};

struct GateItem {
  std::string config{};
  GateVerdict verdict = GateVerdict::invalid;
  GpuCount count{};               ///< Of the GPUs that each answer is for.
  std::string assumed_trainer{};  ///< As assumed_trainer() has it; empty where something says whose trainer it is.
  std::vector<GateCheck> checks{};
  std::vector<HostFit> host{};             ///< One for each limit of the host that was asked for.
  Bytes peak{};                            ///< Of the tensors; zero where there is no estimate.
  std::optional<Bucket> largest_bucket{};  ///< At the peak.
  std::string lever{};                     ///< The key of the config that decides it most; empty where it is not there.
  Location where{};                        ///< Of that key, or of what is wrong.
  std::optional<PeakGrowth> growth{};
  std::string no_growth{};  ///< Why there is none though there is a baseline ("new").
  std::optional<Bytes> budget{};
  Diagnostics diagnostics{};     ///< What stood in the way, and warnings.
  std::optional<GateFix> fix{};  ///< Where one was asked for, and is there.
};

struct Gate {
  std::string policy{};    ///< The file; empty where there is none.
  std::string baseline{};  ///< As given.
  std::vector<GateItem> items{};
  Diagnostics diagnostics{};  ///< Why nothing was judged.
  Diagnostics warnings{};     ///< Of the policy, after all was judged.

  std::size_t count(GateVerdict verdict) const {
    std::size_t n = 0;
    for (const GateItem& item : items) n += item.verdict == verdict ? 1 : 0;
    return n;
  }
};

}  // namespace oomplan
