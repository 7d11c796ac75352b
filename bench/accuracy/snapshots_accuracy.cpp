// Holds the played allocator against recorded ones: real memory snapshots, each trace taken back to where it begins and
// played from there.
//
//   snapshots_accuracy SNAPSHOT...
//
// Prints a line a trace and driver (its own addresses and releases; new segments below; above) and, last, "N of M
// traces agree in every segment (K of L segments, A of B allocations at their address; below: X, above: Y)".
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/recording.hpp"
#include "oomplan/read/log_text.hpp"

namespace {

using namespace oomplan;

struct Driver {
  std::string_view name{};
  DriverAs as = DriverAs::recorded;
};
constexpr std::array<Driver, 3> drivers{
    {{"recorded", DriverAs::recorded}, {"below", DriverAs::descending}, {"above", DriverAs::ascending}}};

struct Sums {
  int traces = 0;
  std::array<int, drivers.size()> agree{};
  Agreement recorded{};
};

void hold(const Recording& recording, const std::string& name, Sums& sums) {
  ++sums.traces;
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const PlayedRecording played = play_as_recorded(recording, drivers[i].as);
    const Agreement& a = played.agreement;
    const bool all = a.same == a.segments && !a.first_different;
    sums.agree[i] += all ? 1 : 0;
    fmt::print("{:<60} {:<8} {} of {} segments, {} of {} allocations at their address, reserved {}{}{}\n", name,
               drivers[i].name, a.same, a.segments, a.at_their_address, a.allocations,
               played.statistics.peak_reserved.count(),
               played.failure ? fmt::format(", ran out at event {}", played.failure->entry) : "", all ? "" : "  OFF");
    if (i > 0) continue;
    sums.recorded.segments += a.segments;
    sums.recorded.same += a.same;
    sums.recorded.allocations += a.allocations;
    sums.recorded.at_their_address += a.at_their_address;
  }
}

void hold(const std::string& path, Sums& sums) {
  Result<LogText> file = LogText::open(path);
  const Result<Snapshot> snapshot = file ? read_snapshot(*file, path) : Result<Snapshot>(file.errors());
  if (!snapshot) return fmt::print("{}\n", to_text(snapshot.errors().front()));
  for (std::size_t device = 0; device < snapshot->traces.size(); ++device) {
    if (snapshot->traces[device].empty()) continue;
    const Result<Recording> recording = recording_of(*snapshot, device);
    const std::string name = path.substr(path.rfind('/') + 1) + ", GPU " + std::to_string(device);
    if (recording) {
      hold(*recording, name, sums);
    } else {
      fmt::print("{}\n", to_text(recording.errors().front()));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: snapshots_accuracy SNAPSHOT...\n");
    return 2;
  }
  Sums sums;
  for (int i = 1; i < argc; ++i) hold(argv[i], sums);
  const Agreement& a = sums.recorded;
  fmt::print(
      "{} of {} traces agree in every segment ({} of {} segments, {} of {} allocations at their address; below: {}, "
      "above: {})\n",
      sums.agree[0], sums.traces, a.same, a.segments, a.at_their_address, a.allocations, sums.agree[1], sums.agree[2]);
  return 0;
}
