// diffusers' training scripts: the mean squared error of what the denoiser says of the noise, both in fp32
// (F.mse_loss(model_pred.float(), target.float(), reduction="mean")), or Flux's weighted one.
#include "modules/pictures.hpp"
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_denoiser(Play& /*play*/, const Head& /*head*/, Stream& s) { s.logits = std::exchange(s.hidden, {}); }

/// aten/src/ATen/native/Loss.cpp: mse_loss, which makes all squares first.
Tensor mse_loss(Torch& t, const Tensor& input, const Tensor& target) {
  NodeRef node = t.record("MseLossBackward0", {&input}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    const Tensor other = torch.unpack(n, 1);
    g.out[0] = torch.empty(self->sizes, self->dtype, "aten::mse_loss_backward");
  });
  t.save(node, 0, input);
  t.save(node, 1, target);
  const Tensor loss = t.empty(input->sizes, input->dtype, "aten::mse_loss");  // Of which one number is left (resize_).
  const Tensor squares = t.empty(input->sizes, input->dtype, "aten::mse_loss");
  return t.attach(node, t.alias(loss, {}, {}));
}

/// Of a model that says its variance too, the first half of the channels.
Tensor said_noise(Torch& t, const Tensor& output, const Tensor& target) {
  const std::int64_t channels = target->sizes[1];
  return output->sizes[1] == channels ? output : t.split(output, channels, 1).front();
}

/// Flux's scripts: the weighted squares of what unpacked rows of latents are from the flow (noise - latents).
Tensor of_flow(Torch& t, const Tensor& output, const Tensor& noise) {
  const Dims& sizes = noise->sizes;
  const Dims squares{sizes[0], sizes[2] / 2, sizes[3] / 2, sizes[1], 2, 2};
  const Tensor said = t.reshape(t.permute(t.view(output, squares), {0, 3, 1, 4, 2, 5}), sizes);
  const Tensor flow = t.sub(noise, noise);
  const Tensor weights = t.empty({sizes[0], 1, 1, 1}, DType::fp32, "aten::_to_copy");
  const Tensor raised = t.to(said, DType::fp32);
  const Tensor off = t.sub(raised, t.to(flow, DType::fp32));
  const Tensor of_rows = t.reshape(t.mul(weights, t.pow_scalar(off)), {sizes[0], -1, 1});
  return t.sum_all(mean_of_rows(t, of_rows));
}

Tensor of_noise(Torch& t, const Tensor& output, const Tensor& target, std::int64_t /*labelled*/) {
  if (output->dim() == 3) return of_flow(t, output, target);
  const Tensor raised = t.to(said_noise(t, output, target), DType::fp32);
  return mse_loss(t, raised, t.to(target, DType::fp32));
}

}  // namespace

extern const Objective denoising;
const Objective denoising{
    .loss = Loss::full_logits, .task = Task::denoising, .play = play_denoiser, .of_logits = of_noise};

}  // namespace oomplan::estimator::objectives
