// Qwen3VLVisionModel's learned positions: a square grid of them, resampled to each picture's grid, of which every patch
// takes the four nearest by their weights.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class GridPositions final : public Module {
 public:
  GridPositions(const Attributes& a, Builder& b)
      : weight_(b.embedding(a.module(), {a.integer("rows"), a.integer("width")})) {}

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
    s.sent.insert(s.sent.end(), {indices, weights, positions});  // Variables of the tower's forward function.
  }

 private:
  Tensor weight_;
};

}  // namespace

extern const OpType grid_positions;
const OpType grid_positions{"grid_positions", make_module<GridPositions>};

}  // namespace oomplan::estimator::ops
