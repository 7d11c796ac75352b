// SegformerMixMLP: between its first layer and the activation a convolution of each channel by itself.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

class MixedMlp final : public Module {
 public:
  MixedMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu"), b)),
        inner_(a.integer("inner")),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const PictureSize size = picture_size(b, a.integer("image_size"));
    height_ = divided_up(size.height, a.integer("step"));
    columns_ = divided_up(size.width, a.integer("step"));
    const std::string m = a.module() + ".";
    first_ = Linear(b, m + "fc1", a.integer("width"), inner_, true);
    const Conv2d::Shape shape{.in = inner_, .out = inner_, .kernel = 3, .stride = 1, .padding = 1, .groups = inner_};
    convolution_ = Conv2d(b, m + "dwconv.dwconv", shape);
    second_ = Linear(b, m + "fc2", inner_, a.integer("width"), true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor hidden = first_(play, s.hidden);
    const std::int64_t rows = hidden->sizes[0];
    {
      const Tensor given = std::exchange(hidden, {});  // The module's argument, as its caller's variable.
      Tensor grid = t.view(t.transpose(given, 1, 2), {rows, inner_, height_, columns_});
      grid = convolution_(play, grid);
      hidden = t.transpose(t.view(grid, {rows, inner_, -1}), 1, 2);
    }
    hidden = activation_(t, hidden);
    hidden = t.dropout(hidden, dropout_);
    hidden = second_(play, hidden);
    s.hidden = t.dropout(hidden, dropout_);
  }

 private:
  Activation activation_;
  std::int64_t inner_;
  double dropout_;
  std::int64_t height_ = 1;   ///< Of the stage's grid,
  std::int64_t columns_ = 1;  ///< … as is this.
  std::int32_t module_;
  Linear first_{}, second_{};
  Conv2d convolution_{};
};

}  // namespace

extern const OpType mixed_mlp;
const OpType mixed_mlp{"mixed_mlp", make_module<MixedMlp>};

}  // namespace oomplan::estimator::ops
