// Gemma4TextModel.get_per_layer_inputs: an embedding as wide as all layers have them.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PerLayerEmbedding final : public Module {
 public:
  PerLayerEmbedding(const Attributes& a, Builder& b)
      : layers_(a.integer("layers")),
        each_(a.integer("each")),
        weight_(b.embedding(a.module(), {a.integer("rows"), saturating_mul(layers_, each_)})) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    scale_ = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims by_layer{s.input_ids->sizes[0], s.input_ids->sizes[1], layers_, each_};
    s.per_layer_inputs = t.view(t.mul(t.embedding(weight_, s.input_ids), scale_), by_layer);
    if (s.seen.mask) s.seen.kept.push_back(s.per_layer_inputs);  // A variable of the model that this one is a part of.
  }

 private:
  std::int64_t layers_;
  std::int64_t each_;
  Tensor weight_;
  Tensor scale_{};
};

}  // namespace

extern const OpType per_layer_embedding;
const OpType per_layer_embedding{"per_layer_embedding", make_module<PerLayerEmbedding>};

}  // namespace oomplan::estimator::ops
