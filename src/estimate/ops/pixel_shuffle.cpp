// pixel_shuffle of InternVL, Idefics 3 and Llama 4: each square of patches becomes one as many times as wide.
#include <cmath>

#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 3> strategies{"full", "default", "but_last"};

class PixelShuffle final : public Module {
 public:
  PixelShuffle(const Attributes& a, Builder&)
      : scale_(a.integer("scale")), dropped_(a.choice("strategy", strategies)), turned_(a.flag("turned", false)) {
    if (a.number("ratio", 1.0 / static_cast<double>(scale_)) * static_cast<double>(scale_) != 1.0)
      a.unmodelled("squares of another size");
  }

  void forward(Play& play, Stream& s) const override { s.hidden = shuffled(play.torch, s.hidden); }

 private:
  Tensor shuffled(Torch& t, const Tensor& all) const {
    const Tensor x = dropped_ == 0 ? all : t.slice(all, 1, dropped_ == 1 ? 1 : 0, all->sizes[1] - 1);
    const std::int64_t rows = x->sizes[0];
    const std::int64_t width = x->sizes[2];
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x->sizes[1])));
    const std::int64_t less = std::max<std::int64_t>(side / scale_, 1);
    const Tensor wide = t.reshape(x, {rows, side, less, width * scale_});
    Tensor turned = t.contiguous(t.transpose(wide, 1, 2));
    turned = t.view(turned, {rows, less, less, width * scale_ * scale_});
    if (turned_) return t.transpose(turned, 1, 2);
    turned = t.contiguous(t.transpose(turned, 1, 2));
    return t.view(turned, {rows, less * less, width * scale_ * scale_});
  }

  std::int64_t scale_;
  std::size_t dropped_;  ///< Nothing, the first token, or the last.
  bool turned_;          ///< It is left as it is turned (Cohere 2 Vision, Aya Vision).
};

}  // namespace

extern const OpType pixel_shuffle;
const OpType pixel_shuffle{"pixel_shuffle", make_module<PixelShuffle>};

}  // namespace oomplan::estimator::ops
