#include "pipeline/parts.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "pipeline/order.hpp"

namespace oomplan::estimator {
namespace {

bool is_embedding(const OpSpec& spec) { return spec.op == "embedding"; }

void set(OpSpec& spec, std::string_view name, bool value) {
  const auto is_it = [&](const auto& attribute) { return attribute.first == name; };
  std::erase_if(spec.attributes, is_it);
  spec.attributes.emplace_back(name, value);
}

/// A stage's forward function has one variable for what goes through it: the embedding's output is not held beside that
/// of the first layer, and the last layer's is until the head has run.
void name_variables(Architecture& part) {
  for (OpSpec& spec : part.body.front().stem) {
    if (is_embedding(spec)) set(spec, "named", false);
  }
  if (!part.tail.empty()) part.tail.insert(part.tail.begin(), OpSpec{.op = "hold_output"});
}

Architecture part_of(const Architecture& whole, std::int64_t from, std::int64_t to, bool first, bool last) {
  Architecture out = whole;
  Segment& body = out.body.front();
  body.layers = {body.layers.begin() + from, body.layers.begin() + to};
  out.layers = to - from;
  out.tied_embeddings = false;
  set(out.head, "tied", false);
  if (!first) std::erase_if(body.stem, is_embedding);
  if (!last) {
    out.tail.clear();
    out.head = {};
    out.heads.clear();
  }
  name_variables(out);
  return out;
}

}  // namespace

std::vector<Architecture> parts_of(const TrainingPlan& plan, const Architecture& architecture, std::int64_t rank) {
  if (!is_pipelined(plan.mesh)) return {architecture};
  const PipelineShape shape = pipeline_shape(plan.mesh);
  const std::vector<std::int64_t> cuts = pipeline_cuts(plan.mesh, architecture.layers);
  std::vector<Architecture> out;
  for (const std::int64_t stage : stages_of_rank(shape, rank)) {
    const auto at = static_cast<std::size_t>(stage);
    out.push_back(part_of(architecture, cuts[at], cuts[at + 1], stage == 0, stage + 1 == shape.stages()));
  }
  return out;
}

}  // namespace oomplan::estimator

namespace oomplan {

std::vector<std::int64_t> pipeline_cuts(const MeshFacts& mesh, std::int64_t layers) {
  const std::int64_t stages = estimator::pipeline_shape(mesh).stages();
  std::vector<std::int64_t> out{0};
  for (const std::string& count : mesh.pipeline_layers.value) out.push_back(out.back() + std::stoll(count));
  if (!mesh.pipeline_layers.value.empty()) return out;
  for (std::int64_t i = 1; i <= stages; ++i) {
    const double place = static_cast<double>(i * layers) / static_cast<double>(stages);
    out.push_back(static_cast<std::int64_t>(std::nearbyint(place)));
  }
  return out;
}

std::int64_t width_of(const Architecture& architecture) {
  if (architecture.body.empty()) return 0;
  const auto& stem = architecture.body.front().stem;
  const auto embedding = std::ranges::find_if(stem, estimator::is_embedding);
  const Attribute* width = embedding == stem.end() ? nullptr : embedding->find("width");
  const auto* count = width == nullptr ? nullptr : std::get_if<std::int64_t>(width);
  return count == nullptr ? 0 : *count;
}

}  // namespace oomplan
