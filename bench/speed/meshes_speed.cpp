// How many layouts MeshBound bounds a second, and how long all of `oomplan plan --loop torch` takes on 1,024 GPUs: in
// seconds of a processor.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <iterator>
#include <string>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/survey/meshes.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

int measure(const std::string& name, const std::string& card, const LayoutWorld& world, std::int64_t rows) {
  const Document document = *parse_document("model: " + name +
                                                "\nweights_dtype: bf16\nmicro_batch_size: 1\nsequence_length: 8192\n"
                                                "pipeline_outputs: false\n",
                                            "oomplan.yaml", Syntax::yaml);
  const Result<Architecture> model = find_model(name);
  const Result<Gpu> gpu = find_gpu(card);
  if (!model || !gpu) return 1;
  IngestOptions options;
  options.dialect = "oomplan";
  options.world = {world.each, world.machines, "--gpu"};
  const TrainingPlan plain = *with_model_defaults(*ingest(document, options), *model);
  const LayoutQuestion question{document, options, *model, *gpu, world, rows, 0.05};
  std::clock_t begin = std::clock();
  MeshBound bound(question);
  const std::vector<MeshLayout> all = mesh_layouts(world, rows, model->layers, "oomplan");
  Bytes sum;
  for (const MeshLayout& layout : all) sum += bound.least(layout);
  const double bounding = seconds_since(begin);
  begin = std::clock();
  const Meshes meshes = plan_meshes(question, plain);
  const double planning = seconds_since(begin);
  std::size_t fits = 0;
  for (const Layout& layout : meshes.layouts) fits += layout.fits ? 1 : 0;
  fmt::print(
      "{} on {}x{}x{}, {} rows: {} layouts bounded in {:.3f} s ({:.0f} a second); planned in {:.2f} s: {} too "
      "large, {} played, {} of them do not fit, {} undecided, {} refused, {} not played; {} listed{}\n",
      name, world.machines, world.each, card, rows, all.size(), bounding, static_cast<double>(all.size()) / bounding,
      planning, meshes.counts.too_large, meshes.counts.played, meshes.counts.misfits, meshes.counts.undecided,
      meshes.counts.refused, meshes.counts.not_played, fits, sum == Bytes() ? " (nothing is bounded)" : "");
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace oomplan

int main() {
  using oomplan::measure;
  int bad = measure("meta-llama/Llama-3.1-70B", "h100-80gb", {.each = 8, .machines = 128, .network = 25}, 1024);
  bad += measure("meta-llama/Llama-3.1-405B", "h100-80gb", {.each = 8, .machines = 128, .network = 25}, 1024);
  bad += measure("meta-llama/Llama-3.1-70B", "h100-80gb", {.each = 8, .machines = 16, .network = 25}, 1024);
  bad += measure("meta-llama/Llama-3.1-8B", "h100-80gb", {.each = 8}, 128);
  return bad;
}
