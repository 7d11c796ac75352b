// Gemma4TextModel's inputs of each layer: an embedding as wide as all layers have them, and a projection of the main
// embedding beside it (get_per_layer_inputs, project_per_layer_inputs).
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class PerLayerInputs final : public Module {
 public:
  PerLayerInputs(const Attributes& a, Builder& b)
      : layers_(a.integer("layers")),
        each_(a.integer("each")),
        weight_(
            b.embedding(a.module() + ".embed_tokens_per_layer", {a.integer("rows"), saturating_mul(layers_, each_)})),
        projection_(b, a.module() + ".per_layer_model_projection", a.integer("width"), saturating_mul(layers_, each_),
                    false),
        norm_(b, a.module() + ".per_layer_projection_norm", each_, RmsStyle::raised) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    scale_ = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims by_layer{s.input_ids->sizes[0], s.input_ids->sizes[1], layers_, each_};
    const Tensor own = t.view(t.mul(t.embedding(weight_, s.input_ids), scale_), by_layer);
    if (s.seen.mask) s.seen.kept.push_back(own);  // A variable of the model that this one is a part of.
    Tensor projected = t.mul_scalar(projection_(play, s.inputs_embeds));
    projected = norm_(play, t.view(projected, by_layer));
    s.per_layer_inputs = t.mul_scalar(t.add(projected, own));
  }

 private:
  std::int64_t layers_;
  std::int64_t each_;
  Tensor weight_;
  Linear projection_;
  RmsNorm norm_;
  Tensor scale_{};
};

}  // namespace

extern const OpType per_layer_inputs;
const OpType per_layer_inputs{"per_layer_inputs", make_module<PerLayerInputs>};

}  // namespace oomplan::estimator::ops
