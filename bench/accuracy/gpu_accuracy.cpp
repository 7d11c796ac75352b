// Holds what a config alone says of max_memory_allocated() and max_memory_reserved() against what they were on a GPU.
//
//   gpu_accuracy --models MODELS.json --cases CASES.json --measured MEASURED.json [--gpu h100-80gb] [--json OUT]
//                [--within PERCENT]
//
// MODELS and CASES: as oracle_accuracy's. MEASURED: {"runs": [{id, allocated, reserved}, …]}, in bytes, each with the
// id of a case; `within` of a run: per cent. Prints a line a run and, last, "S of N supported: allocated within 0.1 %
// in A, within 1 % in B, worst W %; reserved within 1 % in C, within 5 % in D, worst V %". With --within it exits 1
// where an allocated peak is further off than that, or than the run's own `within`, where a run that is not `undecided`
// is not estimated, or where none was held.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/estimate/reservation.hpp"
#include "oracle.hpp"

namespace {

using nlohmann::json;
using namespace oomplan;

struct Numbers {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  std::optional<double> within{};  ///< Per cent.
  bool undecided = false;          ///< No estimate is expected of it.
};

struct Summary {
  int runs = 0, supported = 0, tenth = 0, percent = 0, reserved = 0, reserved_roughly = 0, too_far = 0;
  double worst = 0, worst_reserved = 0;
};

double off(std::int64_t estimated, std::int64_t measured) {
  return 100.0 * (static_cast<double>(estimated) / static_cast<double>(measured) - 1);
}

double further(double a, double b) { return std::abs(b) > std::abs(a) ? b : a; }

class Report {
 public:
  Report(Gpu gpu, std::optional<double> within) : gpu_(std::move(gpu)), within_(within) {}

  void hold(const oracle::Case& c, const Numbers& measured) {
    ++summary_.runs;
    const auto footprint = c.unsupported.empty() ? estimate(c.plan, *c.architecture, Detail::events) : Diagnostics{};
    if (!footprint) {
      fmt::print("{} {:<22} unsupported\n", c.id, c.model);
      summary_.too_far += within_ && !measured.undecided ? 1 : 0;
      return;
    }
    const Reservation run(footprint->events, *parse_alloc_conf("", "--alloc-conf"),
                          {gpu_.cublas_workspace, footprint->cublas_handles, footprint->first_scratch});
    add(c, {run.reserved().allocated.count(), run.reserved().peak.count()}, measured);
  }

  bool near() const { return summary_.too_far == 0 && summary_.runs > 0; }

  void end(const std::string& json_path) const {
    if (!json_path.empty()) std::ofstream(json_path) << rows_.dump(1) << '\n';
    const Summary& s = summary_;
    fmt::print("{} of {} supported: allocated within 0.1 % in {}, within 1 % in {}, worst {:.4f} %; ", s.supported,
               s.runs, s.tenth, s.percent, s.worst);
    fmt::print("reserved within 1 % in {}, within 5 % in {}, worst {:.2f} %\n", s.reserved, s.reserved_roughly,
               s.worst_reserved);
  }

 private:
  void add(const oracle::Case& c, const Numbers& estimated, const Numbers& measured) {
    const double allocated = off(estimated.allocated, measured.allocated);
    const double reserved = off(estimated.reserved, measured.reserved);
    fmt::print("{} {:<22} allocated {:>13} measured {:>13} {:>8.4f} %  reserved {:>13} measured {:>13} {:>7.2f} %\n",
               c.id, c.model, estimated.allocated, measured.allocated, allocated, estimated.reserved, measured.reserved,
               reserved);
    rows_.push_back({{"id", c.id},
                     {"allocated", estimated.allocated},
                     {"allocated_percent", allocated},
                     {"reserved", estimated.reserved},
                     {"reserved_percent", reserved}});
    Summary& s = summary_;
    ++s.supported;
    s.too_far += within_ && std::abs(allocated) > measured.within.value_or(*within_) ? 1 : 0;
    s.tenth += std::abs(allocated) <= 0.1 ? 1 : 0;
    s.percent += std::abs(allocated) <= 1 ? 1 : 0;
    s.reserved += std::abs(reserved) <= 1 ? 1 : 0;
    s.reserved_roughly += std::abs(reserved) <= 5 ? 1 : 0;
    s.worst = further(s.worst, allocated);
    s.worst_reserved = further(s.worst_reserved, reserved);
  }

  Gpu gpu_;
  std::optional<double> within_;
  Summary summary_{};
  json rows_ = json::array();
};

int report(std::map<std::string, std::string>& options) {
  std::map<std::string, Numbers> measured;
  const json file = json::parse(std::ifstream(options["--measured"]));
  for (const json& run : file.at("runs")) {
    measured[run.at("id")] = {run.at("allocated"), run.at("reserved"),
                              run.contains("within") ? std::optional<double>(run.at("within")) : std::nullopt,
                              run.value("undecided", false)};
  }
  const auto gpu = find_gpu(options.contains("--gpu") ? options["--gpu"] : "h100-80gb");
  if (!gpu) throw std::runtime_error(to_text(gpu.errors().front()));
  Report out(*gpu, options.contains("--within") ? std::optional(std::stod(options["--within"])) : std::nullopt);
  for (const oracle::Case& c : oracle::read_plans(options["--models"], options["--cases"])) {
    if (measured.contains(c.id)) out.hold(c, measured[c.id]);
  }
  out.end(options["--json"]);
  return out.near() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  if (!options.contains("--models") || !options.contains("--cases") || !options.contains("--measured")) {
    fmt::print(stderr,
               "usage: gpu_accuracy --models MODELS.json --cases CASES.json --measured MEASURED.json [--gpu GPU]\n"
               "                    [--json OUT] [--within PERCENT]\n");
    return 2;
  }
  try {
    return report(options);
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_accuracy: {}\n", e.what());
    return 3;
  }
}
