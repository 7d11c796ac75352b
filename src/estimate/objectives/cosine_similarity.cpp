// sentence-transformers 6.2's losses of pairs that have a label, by the cosine of their angle
// (sentence_transformer/losses: cosine_similarity.py, cosent.py, contrastive.py, online_contrastive.py). What is made
// of that has a number for each pair.
#include "objective.hpp"
#include "torch/norms.hpp"

namespace oomplan::estimator::objectives {
namespace {

Tensor mean_of_pairs(Torch& t, const Tensor& x) { return t.div_scalar(t.sum_all(x)); }

/// torch's mse_loss.
Tensor of_likeness(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& labels) {
  const Tensor likeness = estimator::cosine_similarity(t, embeddings[0], embeddings[1]);
  return mean_of_pairs(t, t.pow_scalar(t.sub(likeness, t.to(labels, DType::fp32))));
}

/// pairwise_cos_sim, and of each pair the pairs with a higher label.
Tensor of_order(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& /*labels*/) {
  const Tensor a = normalized_last(t, embeddings[0]);
  const Tensor b = normalized_last(t, embeddings[1]);
  const Tensor scores = t.mul_scalar(t.to(t.sum_last(t.mul(a, b)), DType::fp32));
  const Tensor order = t.empty(scores->sizes, DType::int64, "aten::sort");
  const Tensor ordered = t.index_rows(scores, order);
  return t.sum_all(t.exp(t.add(ordered, t.neg(ordered))));
}

Tensor of_distance(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& labels) {
  const Tensor distances = t.neg(estimator::cosine_similarity(t, embeddings[0], embeddings[1]));
  const Tensor near = t.mul(t.to(labels, DType::fp32), t.pow_scalar(distances));
  const Tensor far = t.mul(t.to(labels, DType::fp32), t.pow_scalar(t.relu(t.neg(distances))));
  return mean_of_pairs(t, t.mul_scalar(t.add(near, far)));
}

/// All pairs are taken to be hard ones.
Tensor of_hard_ones(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& /*labels*/) {
  const Tensor distances = t.neg(estimator::cosine_similarity(t, embeddings[0], embeddings[1]));
  const Tensor places = t.empty(distances->sizes, DType::int64, "aten::nonzero");
  const Tensor picked = t.index_rows(distances, places);
  return t.add(t.sum_all(t.pow_scalar(picked)), t.sum_all(t.pow_scalar(t.relu(t.neg(picked)))));
}

constexpr Objective online{.loss = Loss::online_contrastive,
                           .task = Task::sentence_embedding,
                           .evaluated = Loss::online_contrastive,
                           .of_embeddings = of_hard_ones};
constexpr Objective contrastive_of_pairs{.loss = Loss::contrastive,
                                         .task = Task::sentence_embedding,
                                         .evaluated = Loss::contrastive,
                                         .other_version = &online,
                                         .of_embeddings = of_distance};
constexpr Objective cosent{.loss = Loss::cosent,
                           .task = Task::sentence_embedding,
                           .evaluated = Loss::cosent,
                           .other_version = &contrastive_of_pairs,
                           .of_embeddings = of_order};

}  // namespace

extern const Objective cosine_similarity;
const Objective cosine_similarity{.loss = Loss::cosine_similarity,
                                  .task = Task::sentence_embedding,
                                  .evaluated = Loss::cosine_similarity,
                                  .other_version = &cosent,
                                  .of_embeddings = of_likeness};

}  // namespace oomplan::estimator::objectives
