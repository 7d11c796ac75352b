#include "modules/lora_qkv.hpp"

#include <numeric>

#include "torch/convolution.hpp"

namespace oomplan::estimator {

LoraQkv::LoraQkv(Builder& builder, const std::string& module, std::int64_t width, std::int64_t q, std::int64_t kv,
                 bool bias)
    : base_(builder, module + "qkv", width, q + 2 * kv, bias), equal_(q == kv) {
  if (!builder.facts.adapts()) return;
  const auto adapt = [&](const char* name, std::int64_t out) {
    if (builder.targeted(module + name, false)) widths_.push_back(out);
  };
  adapt("query", q);
  adapt("key", kv);
  adapt("value", kv);
  if (widths_.empty()) return;
  const std::int64_t rank = builder.facts.lora_rank;
  const std::int64_t out = std::accumulate(widths_.begin(), widths_.end(), std::int64_t{0});
  const DType dtype = builder.facts.adapter;
  lora_a_ = builder.adapter_weight(module + "qkv.lora_A", {saturating_mul(rank, std::ssize(widths_)), width}, dtype);
  lora_b_ = builder.adapter_weight(module + "qkv.lora_B", {out, rank}, dtype);
  if (widths_.size() == 3) return;
  Restore bucket(builder.torch.recorder.scope.bucket, Bucket::inputs);
  places_ = builder.torch.empty({out}, DType::int64, "buffer");
}

Tensor LoraQkv::operator()(Play& play, const Tensor& x) const {
  const Tensor pretrained = base_(play, x);
  if (!lora_a_) return pretrained;
  const Tensor adapted = update(play, x);
  return play.torch.add(pretrained, adapted);
}

// cuDNN's workspace, and what it copies of what is a slice, are not in it.
Tensor LoraQkv::update(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  const Tensor after_a = t.linear(t.dropout(x, play.facts.lora_dropout), lora_a_, {});
  const Tensor after_b = t.transpose(by_parts(t, t.transpose(after_a, 1, 2)), 1, 2);
  return t.mul_scalar(among_zeros(t, after_b));
}

/// LoRAQKVLinear.conv1d
Tensor LoraQkv::by_parts(Torch& t, const Tensor& x) const {
  const Tensor weight = t.unsqueeze(lora_b_, 2);
  if (equal_) return conv1d(t, x, weight, {}, 0);
  const std::vector<Tensor> inputs = t.split(x, x->sizes[1] / std::ssize(widths_), 1);
  std::vector<Tensor> weights{weight};
  if (widths_.size() == 2) weights = t.split_sizes(weight, {widths_[0], widths_[1]}, 0);
  if (widths_.size() == 3) weights = t.split_sizes(weight, {widths_[0], widths_[1], widths_[2]}, 0);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) parts.push_back(conv1d(t, inputs[i], weights[i], {}, 0));
  if (parts.size() == 1) return t.cat({parts[0]}, 1);
  return parts.size() == 2 ? t.cat({parts[0], parts[1]}, 1) : t.cat({parts[0], parts[1], parts[2]}, 1);
}

/// LoRAQKVLinear.zero_pad; index_copy_ keeps and gives back what index_add_ does.
Tensor LoraQkv::among_zeros(Torch& t, const Tensor& x) const {
  if (!places_) return x;
  const Tensor zeros = t.empty({x->sizes[0], x->sizes[1], base_.out_width()}, x->dtype, "aten::new_zeros");
  return t.index_add_(zeros, t.clone(places_), x);
}

}  // namespace oomplan::estimator
