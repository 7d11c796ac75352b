#include "modules/causal_conv.hpp"

#include "oomplan/catalog/older_code.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator {

CausalConv::CausalConv(const Attributes& a, Builder& b, const std::string& name, std::int64_t channels,
                       std::int64_t kernel, bool bias, Activation activation, bool packages)
    : kernel_(kernel), older_(a.find(older_code) != nullptr), activation_(activation), module_(b.module_id(name)) {
  weight_ = b.convolution(name, {channels, 1, kernel});
  if (bias) bias_ = b.weight(name + ".bias", {channels}, Part::bias);
  if (b.facts.scan_packages && !packages)
    a.unmodelled("the kernels of mamba-ssm, causal-conv1d and flash-linear-attention");
  b.scans = true;
}

Tensor CausalConv::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  if (older_) {
    const Tensor out = t.slice(conv1d(t, x, weight_, bias_, kernel_ - 1), 2, 0, x->sizes[2]);
    return activation_ == nullptr ? out : activation_(t, out);
  }
  const Tensor weight = t.squeeze(weight_, 1);
  Tensor out;
  {
    const Tensor input = t.to(x, weight_->dtype);
    out = t.slice(conv1d(t, input, t.unsqueeze(weight, 1), bias_, kernel_ - 1), 2, 0, x->sizes[2]);
  }
  if (activation_ != nullptr) out = activation_(t, out);
  return t.to(out, x->dtype);
}

Tensor without_padding(Torch& t, const Tensor& x, const Tensor& mask, bool older) {
  if (!mask || (older && x->sizes[0] == 1)) return x;
  return t.to(t.mul(x, t.unsqueeze(mask, 2)), x->dtype);
}

}  // namespace oomplan::estimator
