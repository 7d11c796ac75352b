// Qwen3VLVisionModel's learned positions: a square grid of them, resampled to each picture's grid, of which every patch
// takes the four nearest by their weights.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class GridPositions final : public Module {
 public:
  GridPositions(const Attributes& a, Builder& b)
      : weight_(b.embedding(a.module(), {rows_of(a), a.integer("width")})), held_(a.flag("held", true)) {
    if (!a.flag("numbered", false)) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    numbers_ = b.torch.empty({1, rows_of(a)}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    constexpr std::int64_t nearest = 4;
    const std::int64_t patches = s.hidden->sizes[0];
    const Tensor indices = t.empty({patches, nearest}, DType::int64, "aten::reshape");
    const Tensor weights = t.empty({patches, nearest}, DType::fp32, "aten::reshape");
    Tensor weighted = t.embedding(weight_, indices);
    weighted = t.mul(weighted, t.unsqueeze(weights, 2));
    const Tensor positions = t.sum_dim(std::exchange(weighted, {}), 1, false);
    s.hidden = t.add(s.hidden, t.to(positions, s.hidden->dtype));
    if (held_) s.sent.insert(s.sent.end(), {indices, weights, positions});
  }

 private:
  /// As they are given, or as many as a picture of a `side` has patches.
  static std::int64_t rows_of(const Attributes& a) {
    if (a.find("rows") != nullptr) return a.integer("rows");
    const std::int64_t side = std::max<std::int64_t>(a.integer("side") / a.integer("patch_size"), 1);
    return saturating_mul(side, side);
  }

  Tensor weight_;
  Tensor numbers_{};  ///< A buffer of all positions that the embeddings' class has.
  bool held_;         ///< By variables of the tower's forward function.
};

}  // namespace

extern const OpType grid_positions;
const OpType grid_positions{"grid_positions", make_module<GridPositions>};

}  // namespace oomplan::estimator::ops
