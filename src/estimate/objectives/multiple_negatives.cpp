// sentence-transformers 6.2's MultipleNegativesRankingLoss (sentence_transformer/losses/multiple_negatives_ranking.py),
// as it is without further directions and penalties: each anchor's likeness to all other columns' texts.
#include "objective.hpp"
#include "torch/logsumexp.hpp"
#include "torch/norms.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::objectives {
namespace {

/// cos_sim
Tensor cosines(Torch& t, const Tensor& a, const Tensor& b) {
  const Tensor a_norm = normalized_last(t, a);
  const Tensor b_norm = normalized_last(t, b);
  return t.mm(a_norm, t.t(b_norm));
}

/// scores[rows, places]
Tensor scores_at(Torch& t, const Tensor& scores, const Tensor& rows, const Tensor& places) {
  NodeRef node = t.record("IndexBackward0", {&scores},
                          [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = scores->sizes;
  t.save(node, 0, rows);
  t.save(node, 1, places);
  return t.attach(node, t.empty(rows->sizes, scores->dtype, "aten::index"));
}

Tensor lose_negatives(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& /*labels*/) {
  const Tensor& queries = embeddings.front();
  const std::vector<Tensor> docs(embeddings.begin() + 1, embeddings.end());
  const Tensor all = cat_all(t, docs, 0);
  const Tensor local = t.empty({queries->sizes[0]}, DType::int64, "aten::arange");
  const Tensor rows = t.empty({queries->sizes[0]}, DType::int64, "aten::arange");
  const Tensor local_queries = t.index_rows(queries, local);
  const Tensor local_docs = t.index_rows(docs.front(), local);
  Tensor scores = cosines(t, local_queries, all);
  scores = t.mul_scalar(scores);
  const Tensor positive = scores_at(t, scores, rows, local);
  const Tensor joint = t.cat({scores}, 1);
  const Tensor apart = t.sub(positive, logsumexp_last(t, joint));
  return t.neg(t.div_scalar(t.sum_all(apart)));
}

/// A chunk of CachedMultipleNegativesRankingLoss.calculate_loss: some anchors, and all other columns' texts.
Tensor lose_chunk(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& /*labels*/) {
  const Tensor& queries = embeddings.front();
  const Tensor rows = t.empty({queries->sizes[0]}, DType::int64, "aten::arange");
  const Tensor local_docs = t.index_rows(embeddings[1], rows);
  Tensor scores = cosines(t, queries, embeddings[1]);
  scores = t.mul_scalar(scores);
  const Tensor positive = scores_at(t, scores, rows, rows);
  const Tensor joint = t.cat({scores}, 1);
  const Tensor apart = t.neg(t.sub(positive, logsumexp_last(t, joint)));
  return t.div_scalar(t.mul_scalar(t.div_scalar(t.sum_all(apart))));
}

constexpr Objective cached{.loss = Loss::cached_multiple_negatives,
                           .task = Task::sentence_embedding,
                           .evaluated = Loss::cached_multiple_negatives,
                           .of_embeddings = lose_chunk};

}  // namespace

extern const Objective multiple_negatives;
const Objective multiple_negatives{.loss = Loss::multiple_negatives,
                                   .task = Task::sentence_embedding,
                                   .evaluated = Loss::multiple_negatives,
                                   .other_version = &cached,
                                   .of_embeddings = lose_negatives};

}  // namespace oomplan::estimator::objectives
