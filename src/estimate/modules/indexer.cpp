#include "modules/indexer.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// matmul(q.float(), k.transpose(-1, -2).float().unsqueeze(1))
Tensor products(Torch& t, const Tensor& q, const Tensor& k) {
  const Tensor queries = t.to(q, DType::fp32);
  const Tensor keys = t.unsqueeze(t.to(t.transpose(k, 1, 2), DType::fp32), 1);
  return t.matmul(queries, keys);
}

Tensor masked(Torch& t, const Tensor& scores, const Tensor& mask) {
  const Tensor rows = t.select(mask, 1);
  if (mask->dtype != DType::boolean) return t.add(scores, rows);
  return t.masked_fill(scores, t.pointwise({&rows}, DType::boolean, "aten::bitwise_not"));
}

}  // namespace

Indexer::Indexer(const Attributes& a, Builder& b, const std::string& name)
    : heads_(a.integer("index_heads")),
      head_dim_(a.integer("index_width")),
      turned_(a.integer("rope_width")),
      chosen_(a.integer("index_chosen")),
      rotary_(rotary_style(a, "index_rotary")),
      module_(b.module_id(name)) {
  const std::int64_t width = a.integer("width");
  wq_b_ = Linear(b, name + ".wq_b", a.integer("q_rank"), saturating_mul(heads_, head_dim_), false);
  wk_ = Linear(b, name + ".wk", width, head_dim_, false);
  k_norm_ = LayerNorm(b, name + ".k_norm", head_dim_);
  // Kept in fp32 beside fp16, and so never quantised.
  weights_proj_ = Linear(b, name + ".weights_proj", width, heads_, false, LinearKind::unquantized);
}

// Its variables live until it returns.
Tensor Indexer::operator()(Play& play, const Stream& s, const Tensor& hidden, const Tensor& queries) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Restore no_grad(t.grad_enabled, false);
  InBucket bucket(t, Bucket::attention_scores);
  const std::int64_t rest = head_dim_ - turned_;
  Tensor q = t.view(wq_b_(play, queries), {hidden->sizes[0], hidden->sizes[1], heads_, head_dim_});
  Tensor q_turned = t.transpose(t.slice(q, 3, 0, turned_), 1, 2);
  const Tensor q_pass = t.slice(q, 3, turned_, rest);
  Tensor k = t.unsqueeze(k_norm_(play, wk_(play, hidden)), 2);
  Tensor k_turned = t.transpose(t.slice(k, 3, 0, turned_), 1, 2);
  const Tensor k_pass = t.slice(k, 3, turned_, rest);
  rotate(t, rotary_, q_turned, k_turned, s.arguments.cos[0], s.arguments.sin[0]);
  q = t.cat({t.transpose(q_turned, 1, 2), q_pass}, 3);
  k = t.squeeze(t.cat({t.transpose(k_turned, 1, 2), k_pass}, 3), 2);
  Tensor scores = products(t, q, k);
  scores = t.mul_scalar(scores);
  scores = t.relu(scores);
  const Tensor& weight = weights_proj_.weight(play.facts);
  Tensor weights = weights_proj_(play, t.to(hidden, weight->dtype));
  weights = t.to(weights, DType::fp32);
  weights = t.mul_scalar(weights);
  Tensor index_scores = t.squeeze(t.matmul(t.unsqueeze(weights, 2), scores), 2);
  index_scores = masked(t, index_scores, s.arguments.masks[static_cast<std::size_t>(Span::full)]);
  const Tensor indices = t.topk_last(index_scores, std::min(chosen_, index_scores->sizes.back())).second;
  return t.to(indices, DType::int32);
}

Tensor index_mask(Torch& t, const Tensor& chosen) {
  InBucket bucket(t, Bucket::attention_scores);
  const Dims sizes{chosen->sizes[0], chosen->sizes[1], chosen->sizes[1]};
  const Tensor ones = t.empty(sizes, DType::boolean, "aten::new_ones");
  const Tensor indices = t.to(chosen, DType::int64);
  return t.unsqueeze(t.empty(sizes, DType::boolean, "aten::scatter"), 1);
}

Tensor without_unchosen(Torch& t, const Tensor& mask, const Tensor& unchosen) {
  InBucket bucket(t, Bucket::attention_scores);
  if (mask->dtype != DType::boolean) return t.masked_fill(mask, unchosen);
  const Tensor there = t.pointwise({&unchosen}, DType::boolean, "aten::bitwise_not");
  return t.pointwise({&mask, &there}, DType::boolean, "aten::bitwise_and");
}

}  // namespace oomplan::estimator
