// mesh_layouts: every product that is compared.
#include <algorithm>
#include <utility>

#include "oomplan/core/bytes.hpp"
#include "oomplan/survey/meshes.hpp"

namespace oomplan {
namespace {

constexpr std::int64_t most_stages_each = 2;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 1; i <= number; ++i)
    if (number % i == 0) out.push_back(i);
  return out;
}

/// Of so many rows of a data rank: powers of two and all at once, each in as few rows as make as many micro-batches.
std::vector<std::pair<std::int64_t, std::int64_t>> batches_of(std::int64_t rows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out{{rows, 1}};
  for (std::int64_t rows_at_once = 1; rows_at_once < rows; rows_at_once *= 2) {
    const std::int64_t times = divided_up(rows, rows_at_once);
    const std::pair batch(divided_up(rows, times), times);
    if (std::ranges::count(out, batch) == 0) out.push_back(batch);
  }
  return out;
}

class Candidates {
 public:
  Candidates(const LayoutWorld& world, std::int64_t rows, std::int64_t layers, const std::string& dialect)
      : world_(world), rows_(rows), layers_(layers), titan_(dialect == "torchtitan") {}

  std::vector<MeshLayout> all() {
    for (const std::int64_t tensor : divisors_of(world_.each)) {
      for (const std::int64_t pipeline : divisors_of(world_.gpus() / tensor)) {
        if (pipeline > layers_) continue;
        MeshShape shape{.tensor = tensor, .pipeline = pipeline, .data = world_.gpus() / tensor / pipeline};
        if (tensor == 1) {
          add_pipelines(shape);
          continue;
        }
        // torchtitan has each of its ranks take its part of the rows beside TP (apply_tp).
        for (const auto& [sequence, loss] : {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
          if (titan_ && !sequence) continue;
          shape.sequence = sequence;
          shape.loss = loss;
          add_pipelines(shape);
        }
      }
    }
    return std::move(out_);
  }

 private:
  /// What fills a pipeline less than one forward, one backward holds more for it, and so is of a few micro-batches
  /// alone.
  void add_pipelines(MeshShape shape) {
    if (shape.pipeline == 1) return add_shardings(shape);
    for (const PipelineSchedule schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe}) {
      shape.schedule = schedule;
      add_shardings(shape);
    }
    if (most_stages_each * shape.pipeline > layers_) return;
    shape.schedule = PipelineSchedule::interleaved;
    shape.stages_each = most_stages_each;
    add_shardings(shape);
  }

  void add_shardings(MeshShape shape) {
    if (shape.data == 1) return add_batches(shape);
    shape.sharding = Sharding::ddp;
    if (!titan_) add_batches(shape);
    shape.sharding = Sharding::fsdp2;
    for (const std::int64_t replicas : divisors_of(shape.data)) {
      if (replicas == shape.data) continue;
      shape.replicas = replicas;
      for (const bool kept : {false, true}) {
        shape.kept = kept;
        add_batches(shape);
      }
    }
  }

  void add_batches(const MeshShape& shape) {
    for (const auto& [rows, times] : batches_of(divided_up(rows_, shape.data))) {
      if (!takes(shape, times)) continue;
      for (const bool checkpointing : {false, true}) out_.push_back({shape, checkpointing, rows, times});
    }
  }

  /// Whether a schedule takes so many micro-batches.
  static bool takes(const MeshShape& shape, std::int64_t times) {
    if (shape.pipeline == 1) return true;
    if (shape.schedule == PipelineSchedule::one_f_one_b) return times >= shape.stages();
    if (shape.schedule == PipelineSchedule::gpipe) return times < shape.stages();
    return times % std::max<std::int64_t>(1, times / shape.pipeline) == 0;
  }

  const LayoutWorld& world_;
  std::int64_t rows_;
  std::int64_t layers_;
  bool titan_;
  std::vector<MeshLayout> out_{};
};

}  // namespace

std::vector<MeshLayout> mesh_layouts(const LayoutWorld& world, std::int64_t rows, std::int64_t layers,
                                     const std::string& dialect) {
  return Candidates(world, rows, layers, dialect).all();
}

}  // namespace oomplan
