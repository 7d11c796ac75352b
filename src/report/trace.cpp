#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/report/trace_view.hpp"

namespace oomplan {
namespace {

using Json = nlohmann::ordered_json;

constexpr int process = 1;
enum class Track { phases = 1, modules = 2 };

class Trace {
 public:
  explicit Trace(const Curve& curve) : curve_(curve) {
    for (const CurveGroup& group : curve.groups) used_[static_cast<std::size_t>(group.bucket)] = true;
  }

  Json events(const std::string& config) {
    metadata("process_name", 0, "oomplan " + config);
    metadata("thread_name", static_cast<int>(Track::phases), "phases of step " + std::to_string(curve_.step));
    metadata("thread_name", static_cast<int>(Track::modules), "modules");
    slices(Track::phases, [](const CurvePoint& point) { return std::string(name_of(point.phase)); });
    slices(Track::modules, in_layer);
    for (std::size_t i = 0; i < curve_.points.size(); ++i) count(i);
    return std::move(events_);
  }

 private:
  static std::string in_layer(const CurvePoint& point) {
    return point.layer < 0 ? point.module : "layer " + std::to_string(point.layer) + ": " + point.module;
  }

  void metadata(std::string_view what, int track, const std::string& name) {
    events_.push_back({{"ph", "M"}, {"pid", process}, {"tid", track}, {"name", what}, {"args", {{"name", name}}}});
  }

  /// A slice for each run of points of one name; none for those without.
  template <class Name>
  void slices(Track track, const Name& name) {
    const std::vector<CurvePoint>& points = curve_.points;
    for (std::size_t first = 0, end = 0; first < points.size(); first = end) {
      const std::string called = name(points[first]);
      for (end = first + 1; end < points.size() && name(points[end]) == called; ++end) {
      }
      if (called.empty()) continue;
      events_.push_back({{"ph", "X"},
                         {"pid", process},
                         {"tid", static_cast<int>(track)},
                         {"ts", first},
                         {"dur", end - first},
                         {"name", called}});
    }
  }

  void count(std::size_t i) {
    const CurvePoint& point = curve_.points[i];
    const ByBucket held = by_bucket(curve_, point);
    for (std::size_t b = 0; b < held.size(); ++b)
      if (used_[b]) counter(i, bucket_names[b], held[b], said_[b]);
    counter(i, "reserved", point.reserved, reserved_);
  }

  /// A counter keeps its value until it is told another.
  void counter(std::size_t ts, std::string_view name, Bytes value, Bytes& said) {
    if (value == said && ts > 0) return;
    said = value;
    events_.push_back(
        {{"ph", "C"}, {"pid", process}, {"ts", ts}, {"name", name}, {"args", {{"bytes", value.count()}}}});
  }

  const Curve& curve_;
  Json events_ = Json::array();
  std::array<bool, bucket_count> used_{};
  std::array<Bytes, bucket_count> said_{};
  Bytes reserved_{};
};

}  // namespace

std::string trace_json(const Curve& curve, const std::string& config) {
  const Json out{{"displayTimeUnit", "ns"}, {"traceEvents", Trace(curve).events(config)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oomplan
