// Holds what a config alone says of the reserved memory against PyTorch's own allocator: the smallest card that a
// measured training step ends on, and what is reserved on an unlimited one.
//
//   fits_accuracy --models MODELS.json --cases ORACLE_CASES.json --truth CASES.json [--json OUT]
//
// TRUTH: a list of {id, reserved, smallest_memory_that_fits, largest_memory_that_fails}, each {default, expandable}.
// Between the last two counts as exact. Prints a line a case and setting and, last, "N cases: smallest memory within
// 2 % in A, reserved within 3 % in B, false fits F", each case under both settings.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oracle.hpp"

namespace {

using nlohmann::json;
using namespace oomplan;

struct Truth {
  std::int64_t reserved = 0;
  std::int64_t fits = 0;
  std::optional<std::int64_t> fails{};
};

struct Outcome {
  std::int64_t reserved = 0;
  std::int64_t smallest = 0;
  double reserved_error = 0;
  double smallest_error = 0;
  int false_fits = 0;
};

struct Summary {
  int cases = 0, smallest = 0, reserved = 0, false_fits = 0;
};

double percent(std::int64_t predicted, std::int64_t truth) {
  return 100.0 * (static_cast<double>(predicted) / static_cast<double>(truth) - 1);
}

double smallest_error(std::int64_t predicted, const Truth& truth) {
  if (truth.fails && predicted >= *truth.fails && predicted <= truth.fits) return 0;
  return percent(predicted, truth.fits);
}

// Cards that the run is said to fit on, and that leave it less than the least it was found to need.
int false_fits(const Reservation& reservation, const Truth& truth) {
  int count = 0;
  for (const Gpu& gpu : known_gpus()) {
    const Fit said = fit(reservation, gpu);
    count += said.fits() && (gpu.total - sum(said.runtime)).count() < truth.fits ? 1 : 0;
  }
  return count;
}

Outcome compare(const Footprint& footprint, const AllocatorSettings& settings, const Truth& truth) {
  const Reservation r(oracle::events_of_tensors(footprint), settings, {},
                      {SegmentOrder::ascending});  // as the truth was made
  const Reserved& all = r.reserved();
  return {all.peak.count(), all.smallest.count(), percent(all.peak.count(), truth.reserved),
          smallest_error(all.smallest.count(), truth), false_fits(r, truth)};
}

Truth truth_of(const json& row, const std::string& setting) {
  const json& fails = row.at("largest_memory_that_fails").at(setting);
  return {row.at("reserved").at(setting), row.at("smallest_memory_that_fits").at(setting),
          fails.is_null() ? std::nullopt : std::optional<std::int64_t>(fails)};
}

void add(Summary& s, const Outcome& o) {
  ++s.cases;
  s.smallest += std::abs(o.smallest_error) <= 2 ? 1 : 0;
  s.reserved += std::abs(o.reserved_error) <= 3 ? 1 : 0;
  s.false_fits += o.false_fits;
}

class Report {
 public:
  void hold(const oracle::Case& c, const json& truth) {
    const auto footprint = c.unsupported.empty() ? estimate(c.plan, *c.architecture, Detail::events) : Diagnostics{};
    if (!footprint) {
      fmt::print("{} {:<18} unsupported\n", c.id, c.model);
      return;
    }
    for (const auto& [setting, conf] : settings_) {
      const Truth t = truth_of(truth, setting);
      const Outcome o = compare(*footprint, *parse_alloc_conf(conf, "--alloc-conf"), t);
      fmt::print("{} {:<18} {:<10} smallest {:>13} true {:>13} {:>7.2f} %  reserved {:>13} true {:>13} {:>7.2f} %{}\n",
                 c.id, c.model, setting, o.smallest, t.fits, o.smallest_error, o.reserved, t.reserved, o.reserved_error,
                 o.false_fits > 0 ? "  FALSE FIT" : "");
      rows_.push_back({{"id", c.id},
                       {"setting", setting},
                       {"smallest", o.smallest},
                       {"smallest_percent", o.smallest_error},
                       {"reserved", o.reserved},
                       {"reserved_percent", o.reserved_error},
                       {"false_fits", o.false_fits}});
      add(summary_, o);
    }
  }

  void end(const std::string& json_path) const {
    if (!json_path.empty()) std::ofstream(json_path) << rows_.dump(1) << '\n';
    fmt::print("{} cases: smallest memory within 2 % in {}, reserved within 3 % in {}, false fits {}\n", summary_.cases,
               summary_.smallest, summary_.reserved, summary_.false_fits);
  }

 private:
  std::map<std::string, std::string> settings_{{"default", ""}, {"expandable", "expandable_segments:True"}};
  Summary summary_{};
  json rows_ = json::array();
};

int report(std::map<std::string, std::string>& options) {
  std::map<std::string, json> truths;
  for (const json& row : json::parse(std::ifstream(options["--truth"]))) truths[row.at("id")] = row;
  Report out;
  for (const oracle::Case& c : oracle::read_plans(options["--models"], options["--cases"])) {
    if (truths.contains(c.id)) out.hold(c, truths[c.id]);
  }
  out.end(options["--json"]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (!options.contains("--models") || !options.contains("--cases") || !options.contains("--truth")) {
    fmt::print(stderr,
               "usage: fits_accuracy --models MODELS.json --cases CASES.json --truth TRUTH.json [--json OUT]\n");
    return 2;
  }
  try {
    return report(options);
  } catch (const std::exception& e) {
    fmt::print(stderr, "fits_accuracy: {}\n", e.what());
    return 3;
  }
}
