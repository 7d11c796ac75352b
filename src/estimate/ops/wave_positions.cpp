// Wav2Vec2PositionalConvEmbedding: a grouped convolution over frames, whose weight is made anew of a direction and a
// length in each forward pass (torch.nn.utils.parametrizations.weight_norm), added to the frames.
#include "modules/activation.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

class WavePositions final : public Module {
 public:
  WavePositions(const Attributes& a, Builder& b)
      : kernel_(a.integer("kernel")), activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::int64_t width = a.integer("width");
    const std::string m = a.module() + ".";
    bias_ = b.weight(m + "bias", {width}, Part::bias);
    length_ = b.weight(m + "parametrizations.weight.original0", {1, 1, kernel_}, Part::matrix);
    direction_ = b.weight(m + "parametrizations.weight.original1", {width, a.quotient("width", "groups"), kernel_},
                          Part::matrix);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor frames = t.transpose(s.hidden, 1, 2);
    Tensor positions = conv1d(t, frames, weight(t), bias_, kernel_ / 2);
    if (kernel_ % 2 == 0) positions = t.slice(positions, 2, 0, positions->sizes[2] - 1);
    positions = t.transpose(activation_(t, positions), 1, 2);
    s.hidden = t.add(s.hidden, positions);
  }

 private:
  /// aten::_weight_norm_interface
  Tensor weight(Torch& t) const {
    NodeRef node =
        t.record("WeightNormInterfaceBackward0", {&direction_, &length_}, [](Torch& torch, Node& n, Grads& g) {
          const char* op = "aten::_weight_norm_interface_backward";
          const Tensor direction = torch.unpack(n, 0);
          const Tensor length = torch.unpack(n, 1);
          const Tensor norms = torch.unpack(n, 2);
          g.out[0] = torch.empty(direction->sizes, direction->dtype, op);
          g.out[1] = torch.empty(length->sizes, length->dtype, op);
        });
    t.save(node, 0, direction_);
    t.save(node, 1, length_);
    const char* op = "aten::_weight_norm_interface";
    const Tensor out = t.empty(direction_->sizes, direction_->dtype, op);
    t.save_output(node, 2, t.empty(length_->sizes, DType::fp32, op));
    return t.attach(node, out);
  }

  std::int64_t kernel_;
  Activation activation_;
  Tensor bias_{}, length_{}, direction_{};
};

}  // namespace

extern const OpType wave_positions;
const OpType wave_positions{"wave_positions", make_module<WavePositions>};

}  // namespace oomplan::estimator::ops
