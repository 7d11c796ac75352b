// MllamaVisionModel.forward between its two encoders: a norm, and which of an image's tiles each one is.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class TileGlobal final : public Module {
 public:
  TileGlobal(const Attributes& a, Builder& b) : tiles_(a.integer("tiles")), width_(a.integer("width")) {
    const std::string m = a.module().substr(0, a.module().rfind('.') + 1);  // Its modules are the tower's own.
    gate_ = b.weight(m + "post_tile_positional_embedding.gate", {1}, Part::norm);
    embedding_ = b.embedding(m + "post_tile_positional_embedding.embedding",
                             {saturating_add(a.integer("ratios"), 1), saturating_mul(tiles_, width_)});
    norm_ = LayerNorm(b, m + "layernorm_post", width_);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t images = s.hidden->sizes[0];
    s.hidden = norm_(play, s.hidden);
    s.hidden = t.reshape(s.hidden, {images, tiles_, -1, width_});
    s.hidden = of_tile(t, s.hidden);
    s.hidden = t.reshape(s.hidden, {images, -1, width_});
  }

 private:
  Tensor of_tile(Torch& t, const Tensor& x) const {
    Tensor ids;
    {
      Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
      ids = t.empty({x->sizes[0], 1}, DType::int64, "batch");
    }
    Tensor one = t.embedding(embedding_, ids);
    one = t.reshape(one, {-1, tiles_, 1, width_});
    one = t.mul(one, t.tanh(gate_));
    return t.add(x, one);
  }

  std::int64_t tiles_;
  std::int64_t width_;
  Tensor gate_{}, embedding_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType tile_global;
const OpType tile_global{"tile_global", make_module<TileGlobal>};

}  // namespace oomplan::estimator::ops
