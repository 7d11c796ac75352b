// A mesh in words.
#include <algorithm>
#include <string_view>

#include "oomplan/survey/meshes.hpp"

namespace oomplan {
namespace {

std::string times(std::int64_t groups, std::int64_t ranks) {
  return groups > 1 ? std::to_string(groups) + "x" + std::to_string(ranks) : std::to_string(ranks);
}

}  // namespace

std::string title_of(const MeshShape& shape) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " x ") + text; };
  if (shape.tensor > 1)
    add("TP " + std::to_string(shape.tensor) + (shape.sequence ? " SP" : "") + (shape.loss ? " LP" : ""));
  if (shape.pipeline > 1)
    add("PP " + std::to_string(shape.pipeline) + " " +
        std::string(pipeline_schedule_names[static_cast<std::size_t>(shape.schedule)]));
  if (shape.sharding == Sharding::ddp) add("DDP " + std::to_string(shape.data));
  if (shape.sharding == Sharding::fsdp2)
    add((shape.replicas > 1 ? "HSDP " : "FSDP2 ") + times(shape.replicas, shape.shards()) +
        (shape.kept ? " kept" : ""));
  return out.empty() ? "one GPU" : out;
}

std::string name_of(const MeshShape& shape) {
  std::string out;
  for (const char c : title_of(shape)) {
    if (c != ' ') {
      out += c;
    } else if (!out.ends_with('-')) {
      out += '-';
    }
  }
  for (std::size_t at = out.find("-x-"); at != out.npos; at = out.find("-x-")) out.replace(at, 3, "_");
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

}  // namespace oomplan
