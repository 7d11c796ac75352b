#include "modules/conv_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// Of kinds and of ways to begin, which no run was held against.
bool is_plain(const Facts& f) {
  return f.kind == Adapter::lora && !f.dora && f.init == AdapterInit::plain && !f.own_lora && !f.unsloth;
}

void refuse(Builder& b, std::string message) {
  Diagnostic d;
  d.code = "estimate/no-target";
  d.message = std::move(message);
  d.where = b.facts.lora_targets_at;
  b.add_once(std::move(d));
}

}  // namespace

ConvAdapter::ConvAdapter(Builder& b, const std::string& name, std::int64_t in, std::int64_t out, const Dims& kernel,
                         std::int64_t groups) {
  const Facts& f = b.facts;
  if (!is_plain(f)) {
    b.play_no_adapter(name, "a convolution");
    return;
  }
  if (!b.targeted(name, false)) return;
  if (f.lora_rank % groups != 0) {
    refuse(b, fmt::format("{}: peft refuses LoRA of rank {} on a convolution of {} groups", b.path(name), f.lora_rank,
                          groups));
    return;
  }
  Dims first{f.lora_rank, in};
  for (const std::int64_t size : kernel.span()) first.push(size);
  Dims second{out, f.lora_rank / groups};
  for (int i = 0; i < kernel.size(); ++i) second.push(1);
  a_ = b.adapter_weight(name + ".lora_A", first, f.adapter);
  b_ = b.adapter_weight(name + ".lora_B", second, f.adapter);
}

Tensor ConvAdapter::operator()(Play& play, const Tensor& x, Tensor result, const Convolve& convolve) const {
  if (!a_ || play.facts.adapters_off) return result;
  Torch& t = play.torch;
  const DType dtype = result->dtype;
  const Tensor input = t.to(x, a_->dtype);
  Tensor update = convolve(t.dropout(input, play.facts.lora_dropout), a_, false);
  update = convolve(update, b_, true);
  update = t.mul_scalar(update);
  result = t.add(result, update);
  update.reset();
  return t.to(result, dtype);
}

}  // namespace oomplan::estimator
