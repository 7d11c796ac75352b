// ResNetEmbeddings: a convolution of pixels, its norm, and the highest of each square of nine.
#include "modules/activation.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class ResnetStem final : public Module {
 public:
  ResnetStem(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        size_(picture_size(b, a.integer("image_size"))),
        activation_(find_activation(a.text("activation", "relu"), b)) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    convolution_ = Conv2d(b, m + "convolution",
                          {.in = channels_, .out = width, .kernel = 7, .stride = 2, .padding = 3, .bias = false});
    norm_ = BatchNorm2d(b, m + "normalization", width);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {f.batch, channels_, size_.height, size_.width});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor hidden = activation_(t, norm_(play, convolution_(play, s.pixels)));
    s.hidden = highest(t, hidden);
    s.inputs_embeds = s.hidden;
  }

 private:
  /// torch.nn.MaxPool2d(3, stride=2, padding=1), which keeps its input and where the highest were.
  static Tensor highest(Torch& t, const Tensor& x) {
    NodeRef node = t.record("MaxPool2DWithIndicesBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor input = torch.unpack(n, 0);
      const Tensor where = torch.unpack(n, 1);
      g.out[0] = torch.empty(input->sizes, input->dtype, "aten::max_pool2d_with_indices_backward");
    });
    t.save(node, 0, x);
    const Dims sizes{x->sizes[0], x->sizes[1], (x->sizes[2] - 1) / 2 + 1, (x->sizes[3] - 1) / 2 + 1};
    const Tensor out = t.empty(sizes, x->dtype, "aten::max_pool2d_with_indices");
    t.save_output(node, 1, t.empty(sizes, DType::int64, "aten::max_pool2d_with_indices"));
    return t.attach(node, out);
  }

  std::int64_t channels_;
  PictureSize size_;
  Activation activation_;
  Conv2d convolution_{};
  BatchNorm2d norm_{};
};

}  // namespace

extern const OpType resnet_stem;
const OpType resnet_stem{"resnet_stem", make_module<ResnetStem>};

}  // namespace oomplan::estimator::ops
