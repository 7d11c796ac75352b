// Products of data, tensor and pipeline parallelism: thousands of layouts, bounded before any is played.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "oomplan/survey/layouts.hpp"
#include "oomplan/survey/mesh_layout.hpp"

namespace oomplan {

/// The dialects whose configs say a mesh: "oomplan", "torchtitan".
bool says_meshes(const std::string& dialect);

/// The layouts that are compared for `rows` rows a step on all GPUs, of a model of so many layers.
std::vector<MeshLayout> mesh_layouts(const LayoutWorld& world, std::int64_t rows, std::int64_t layers,
                                     const std::string& dialect);

/// What a layout needs at the least, from what one layer and two of them hold: nothing of the layout's own is played.
class MeshBound {
 public:
  /// All outlive it. The question's document is read in the dialect that `question.ingest` has.
  explicit MeshBound(const LayoutQuestion& question);

  /// Of the tensors on the GPU that holds most, at the least; 0 where nothing is known.
  Bytes least(const MeshLayout& layout);

 private:
  /// One rank without shards and stages.
  struct Anchor {
    Bytes states{};     ///< Weights and optimizer's state.
    Bytes stepped{};    ///< The same with gradients, when the optimizer steps.
    Bytes gradients{};  ///< Of these.
    Bytes kept{};       ///< Saved for backward, and the loss, when that is computed.
    std::int64_t elements = 0;
    std::int64_t trained = 0;
  };
  struct Pair {
    Anchor one{};          ///< Of one layer; of all where layers differ.
    Anchor layer{};        ///< What another layer adds; nothing where layers differ.
    bool synced = false;   ///< Gradients are reduced in each micro-batch.
    bool outputs = false;  ///< The last stage keeps what it gives.
    bool quantized = false;
    std::int64_t length = 0;
  };
  using Key = std::tuple<std::int64_t, bool, bool, bool, bool, std::int64_t>;

  const Pair& pair_of(const MeshLayout& layout);
  const std::optional<TrainingPlan>& plan_of(const MeshLayout& layout);
  Pair played(const MeshLayout& layout);
  std::optional<Anchor> anchor_of(const TrainingPlan& plan, const Architecture& model) const;
  Bytes least_in_stages(const MeshLayout& layout, const Pair& pair) const;

  const LayoutQuestion& question_;
  std::map<Key, std::optional<TrainingPlan>> plans_{};  ///< By the keys of any micro-batch (0).
  std::map<Key, Pair> pairs_{};
};

/// What of a model a mesh's cost follows.
struct MeshModel {
  Counted parameters{};
  std::int64_t layers = 0;
  std::int64_t width = 0;  ///< Of the hidden states; 0: not known.
  std::int64_t vocabulary = 0;
};

/// What a step costs a rank, by the model of docs/planner.md. `plan`: of the same dtypes.
StepCost mesh_cost(const MeshLayout& layout, const TrainingPlan& plan, const MeshModel& model, const Gpu& gpu,
                   const LayoutWorld& world);

/// What it sets of the document's keys: "key=value". `plain`: what the document says itself on as many GPUs, whose
/// values need no setting.
std::vector<std::string> mesh_settings(const MeshLayout& layout, const TrainingPlan& plain, const LayoutWorld& world);

/// "TP 8 SP LP x PP 4 1f1b x FSDP2 32".
std::string title_of(const MeshShape& shape);
/// The same without spaces, for machines.
std::string name_of(const MeshShape& shape);

struct Meshes {
  std::vector<Layout> layouts{};  ///< The first ten meshes that fit, the quickest first; then what is undecided, of
                                  ///< each mesh once; where nothing fits, what was played of it.
  MeshCounts counts{};
};

/// Bounds all layouts, and plays those that may fit in the order of their cost until ten meshes of them do. `plain`: as
/// for mesh_settings.
Meshes plan_meshes(const LayoutQuestion& question, const TrainingPlan& plain);

/// What the question's document needs as it stands, where it is that layout.
std::optional<Bytes> needed_as_written(const LayoutQuestion& question, const MeshLayout& layout);

}  // namespace oomplan
