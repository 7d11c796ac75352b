#include "modules/learned_query.hpp"

namespace oomplan::estimator {

LearnedQuery::LearnedQuery(Builder& b, const std::string& module, std::int64_t width, std::int64_t head_dim)
    : width_(width),
      head_dim_(head_dim),
      probe_(b.weight(module + "probe", {1, 1, width}, Part::embedding)),
      in_weight_(b.weight(module + "attention.in_proj_weight", {saturating_mul(3, width), width}, Part::matrix)),
      in_bias_(b.weight(module + "attention.in_proj_bias", {saturating_mul(3, width)}, Part::bias)) {}

Tensor LearnedQuery::operator()(Torch& t, const Tensor& x, const Tensor& out_weight, const Tensor& out_bias) const {
  const std::int64_t rows = x->sizes[0];
  const std::int64_t patches = x->sizes[1];
  const Tensor probe = t.repeat_first(probe_, rows);
  const Tensor key = t.contiguous(t.transpose(x, 0, 1));
  const Tensor q =
      t.linear(t.transpose(probe, 0, 1), t.slice(in_weight_, 0, 0, width_), t.slice(in_bias_, 0, 0, width_));
  Tensor both = t.linear(key, t.slice(in_weight_, 0, width_, 2 * width_), t.slice(in_bias_, 0, width_, 2 * width_));
  both = t.contiguous(t.transpose(t.view(both, {patches * rows, 2, width_}), 0, 1));
  const Tensor k = heads_of_rows(t, t.slice(both, 0, 0, 1), patches, rows);
  const Tensor v = heads_of_rows(t, t.slice(both, 0, 1, 1), patches, rows);
  const Tensor scaled = t.mul_scalar(heads_of_rows(t, q, 1, rows));
  Tensor weights = t.bmm(scaled, t.transpose(k, 1, 2));
  weights = t.softmax_last(weights);
  Tensor out = t.bmm(weights, v);
  out = t.reshape(t.transpose(out, 0, 1), {rows, width_});
  out = t.linear(out, out_weight, out_bias);
  return t.view(out, {rows, 1, width_});
}

/// length × rows × width: a matrix of length × head for each head of each row.
Tensor LearnedQuery::heads_of_rows(Torch& t, const Tensor& x, std::int64_t length, std::int64_t rows) const {
  return t.transpose(t.view(x, {length, rows * (width_ / head_dim_), head_dim_}), 0, 1);
}

}  // namespace oomplan::estimator
