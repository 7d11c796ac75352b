// What both halves of DaViT's blocks do around their own work (Florence2VisionSpatialBlock.forward): a convolution of
// each channel alone is added to the picture, whose patches then are rows, and a norm of them is worked on.
#pragma once

#include "modules/drop_path.hpp"
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator {

class DavitHalf {
 public:
  DavitHalf(const Attributes& a, Builder& b, const char* convolution, const char* norm)
      : drops_(a.flag("drops", true) && a.number("drop_path", 0.0) > 0.0) {
    const std::int64_t width = a.integer("width");
    convolution_ = Conv2d(b, a.module() + "." + convolution,
                          {.in = width, .out = width, .kernel = 3, .padding = 1, .groups = width});
    norm_ = LayerNorm(b, a.module() + "." + norm, width);
  }

  /// s.hidden, a picture, becomes another; `work` has rows × patches × channels for an argument and makes as many.
  template <class Work>
  void operator()(Play& play, Stream& s, const Work& work) const {
    Torch& t = play.torch;
    const Dims picture = s.hidden->sizes;
    Tensor& x = s.hidden;
    x = t.add(convolution_(play, x), x);
    x = t.transpose(t.view(x, {picture[0], picture[1], -1}), 1, 2);
    s.residual = x;
    x = norm_(play, x);
    x = work(x);
    s.hidden = t.add(s.residual, drops_ ? drop_rows(t, x) : x);
    x = t.view(t.transpose(x, 1, 2), picture);
  }

 private:
  bool drops_;
  Conv2d convolution_{};
  LayerNorm norm_{};
};

}  // namespace oomplan::estimator
