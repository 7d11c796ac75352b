// torch/utils/checkpoint.py: _checkpoint_without_reentrant_generator and CheckpointFunction.
#include "torch/torch.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator {
namespace {

/// detach_variable: what of it asks for a gradient asks anew.
Tensor detached(Torch& t, const Tensor& x, bool asks) {
  Tensor out = t.detach(x);
  out->requires_grad = asks;
  return out;
}

/// The input as it was saved, or out of the buffer that it came back into.
Tensor input_again(Torch& t, Node& n, const CheckpointFrame& frame) {
  if (t.unsloth != nullptr) t.unsloth->note_backward();
  if (frame.buffer < 0) return detached(t, t.unpack(n, 0), n.needs(0));
  return detached(t, t.unsloth->bring_back(frame.buffer, n.dims), true);
}

/// An output whose gradient nobody made gets one of zeros (ctx.set_materialize_grads).
void make_gradients(Torch& t, const Node& n, Grads& g) {
  for (std::size_t i = 1; i < static_cast<std::size_t>(n.output_count); ++i) {
    if (!g.in[i]) g.in[i] = t.zeros(n.outputs[i].sizes, n.outputs[i].dtype);
  }
}

void reentrant_backward(Torch& t, Node& n, Grads& g) {
  make_gradients(t, n, g);
  CheckpointFrame& frame = *n.frame;
  Tensor input = input_again(t, n, frame);
  for (std::size_t i = 0; i < frame.tracked.size(); ++i) {
    Tensor& one = *frame.tracked[i];
    one = detached(t, one, n.needs(static_cast<int>(i) + 1));
  }
  t.enter_autocast(frame.autocast);
  Tensor output;
  {
    Restore grad(t.grad_enabled, true);
    output = frame.forward(input);
  }
  std::array<std::pair<Tensor, Tensor>, 4> others;
  for (std::size_t i = 0; i < others.size(); ++i) {
    others[i] = {std::exchange(t.beside[i], {}), std::move(g.in[i + 1])};
    if (others[i].first && !others[i].first->requires_grad) others[i] = {};
  }
  t.exit_autocast();
  t.backward_from(output, g.in[0], others);
  output.reset();
  others = {};
  // Where something of this run outlives it (keys that later layers share), so does the leaf, with its gradient.
  g.out[0] = input->grad;
  for (std::size_t i = 0; i < frame.tracked.size(); ++i) {
    g.out[i + 1] = (*frame.tracked[i])->grad;
    frame.tracked[i]->reset();
  }
}

}  // namespace

Tensor Torch::reentrant(const Tensor& input, CheckpointFrame& frame) {
  const Tensor none;
  const auto tracked = [&](std::size_t i) { return i < frame.tracked.size() ? frame.tracked[i] : &none; };
  NodeRef node = record("CheckpointFunctionBackward", {&input, tracked(0), tracked(1), tracked(2)}, reentrant_backward);
  if (node && unsloth != nullptr) frame.buffer = unsloth->leave(input);
  if (frame.buffer < 0) {
    save(node, 0, input);
  } else {
    node->dims = input->sizes;
  }
  for (std::size_t i = 0; i < frame.tracked.size(); ++i) save(node, static_cast<int>(i) + 1, *frame.tracked[i]);
  Tensor output;
  {
    Restore no_grad(grad_enabled, false);
    output = frame.forward(input);
    // What came in and goes out as it is becomes a view.
    for (Tensor& one : beside) one = one ? detach(one) : one;
  }
  if (!node) return output;
  node->frame = &frame;
  ++frame.refs;
  output = attach(node, std::move(output));
  for (std::size_t i = 0; i < beside.size(); ++i) {
    const bool has_gradient = beside[i] && is_floating(beside[i]->dtype);
    if (has_gradient) beside[i] = attach(node, std::move(beside[i]), static_cast<int>(i) + 1);
  }
  return output;
}

// _CheckpointFrame.save_inputs, of torch 2.13: within another checkpoint the input is that one's to make again.
void Torch::keep_input(CheckpointFrame& frame, const Tensor& input) {
  frame.asks = input->requires_grad;
  if (!frame.style.by_name) return pack(frame.input, input);
  keep_for_backward(input);
  frame.input.tensor = input;
}

Tensor Torch::checkpoint(const Tensor& input, std::function<Tensor(Tensor)> forward, CheckpointStyle style,
                         std::vector<Tensor*> tracked) {
  // Without gradients there is nothing to run again for, and no context of the checkpoint's is entered.
  if (!style.reentrant && !grad_enabled) return forward(input);
  auto* frame = new CheckpointFrame;
  frame->refs = 1;
  frame->style = style;
  frame->forward = std::move(forward);
  frame->autocast = autocast_;
  frame->tracked = std::move(tracked);
  Tensor output;
  if (style.reentrant) {
    output = reentrant(input, *frame);
  } else {
    keep_input(*frame, input);
    Restore hooks(packing_, frame);
    Restore inner(recomputing_, static_cast<CheckpointFrame*>(nullptr));
    output = frame->forward(input);
  }
  if (--frame->refs == 0) delete frame;
  return output;
}

// SavedVariable::unpack gives what comes back its place in the graph again.
Tensor Torch::input_of(CheckpointFrame& frame) {
  Tensor input = unpack(frame.input);
  if (frame.asks && !input->requires_grad) input->requires_grad = true;
  return input;
}

void Torch::recompute(CheckpointFrame& frame) {
  Restore grad(grad_enabled, true);
  Restore filling(recomputing_, &frame);
  Restore packing(packing_, static_cast<CheckpointFrame*>(nullptr));
  enter_autocast(frame.autocast);
  frame.tensors.reserve(static_cast<std::size_t>(frame.saved));
  frame.products = 0;
  // torch stops at the last save; here the block plays on unheard, which is cheaper than throwing.
  frame.forward(input_of(frame));
  beside = {};
  exit_autocast();
  recorder.unmute();
  frame.done = true;
}

Tensor Torch::recomputed(Saved& saved) {
  if (!saved.frame->done) recompute(*saved.frame);
  return std::move(saved.frame->tensors[static_cast<std::size_t>(saved.index)]);
}

}  // namespace oomplan::estimator
