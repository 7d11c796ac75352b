// torch/utils/checkpoint.py: _checkpoint_without_reentrant_generator and CheckpointFunction.
#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

void reentrant_backward(Torch& t, Node& n, Grads& g) {
  // An output whose gradient nobody made gets one of zeros (ctx.set_materialize_grads).
  if (n.output_count > 1 && !g.in[1]) g.in[1] = t.zeros(n.outputs[1].sizes, n.outputs[1].dtype);
  Tensor input = t.detach(t.unpack(n, 0));
  input->requires_grad = n.needs(0);
  t.enter_autocast(n.frame->autocast);
  Tensor output;
  {
    Restore grad(t.grad_enabled, true);
    output = n.frame->forward(input);
  }
  const Tensor beside = std::exchange(t.beside, {});
  t.exit_autocast();
  t.backward_from(output, g.in[0], beside, std::move(g.in[1]));
  output.reset();
  g.out[0] = std::move(input->grad);
}

}  // namespace

Tensor Torch::checkpoint(const Tensor& input, std::function<Tensor(Tensor)> forward, bool reentrant) {
  auto* frame = new CheckpointFrame;
  frame->refs = 1;
  frame->forward = std::move(forward);
  frame->autocast = autocast_;
  Tensor output;
  if (reentrant) {
    NodeRef node = record("CheckpointFunctionBackward", {&input}, reentrant_backward);
    save(node, 0, input);
    {
      Restore no_grad(grad_enabled, false);
      output = frame->forward(input);
    }
    if (node) {
      node->frame = frame;
      ++frame->refs;
    }
    output = attach(node, std::move(output));
    if (beside) beside = attach(node, std::move(beside), 1);
  } else {
    frame->input = input;
    if (grad_enabled) keep_for_backward(input);
    Restore hooks(packing_, frame);
    output = frame->forward(input);
  }
  if (--frame->refs == 0) delete frame;
  return output;
}

void Torch::recompute(CheckpointFrame& frame) {
  Restore grad(grad_enabled, true);
  Restore filling(recomputing_, &frame);
  Restore packing(packing_, static_cast<CheckpointFrame*>(nullptr));
  enter_autocast(frame.autocast);
  frame.tensors.reserve(static_cast<std::size_t>(frame.saved));
  // torch stops at the last save; here the block plays on unheard, which is cheaper than throwing.
  frame.forward(frame.input);
  beside.reset();
  exit_autocast();
  recorder.unmute();
  frame.done = true;
}

Tensor Torch::recomputed(Saved& saved) {
  if (!saved.frame->done) recompute(*saved.frame);
  return std::move(saved.frame->tensors[static_cast<std::size_t>(saved.index)]);
}

}  // namespace oomplan::estimator
