#include "modules/diffusers_attention.hpp"

#include "modules/attention_core.hpp"

namespace oomplan::estimator {

DiffusersAttention::DiffusersAttention(Builder& b, const std::string& name, const Shape& shape)
    : head_dim_(std::max<std::int64_t>(shape.width / std::max<std::int64_t>(shape.heads, 1), 1)),
      module_(b.module_id(name)),
      to_q_(b, name + ".to_q", shape.width, shape.width, shape.bias),
      to_k_(b, name + ".to_k", shape.of, shape.width, shape.bias),
      to_v_(b, name + ".to_v", shape.of, shape.width, shape.bias),
      to_out_(b, name + ".to_out.0", shape.width, shape.width, true) {}

Tensor DiffusersAttention::operator()(Play& play, const Tensor& x, const Tensor& context) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor query = to_q_(play, x);
  const Tensor& of = context ? context : x;
  Tensor key = to_k_(play, of);
  Tensor value = to_v_(play, of);
  query = heads_of(t, query, head_dim_);
  key = heads_of(t, key, head_dim_);
  value = heads_of(t, value, head_dim_);
  Tensor hidden = t.attention(query, key, value, {}, 0.0, false, false);
  hidden = t.reshape(t.transpose(hidden, 1, 2), {x->sizes[0], x->sizes[1], -1});
  hidden = t.to(hidden, query->dtype);
  hidden = to_out_(play, hidden);
  return t.div_scalar(hidden);  // By rescale_output_factor, 1 as it is.
}

}  // namespace oomplan::estimator
