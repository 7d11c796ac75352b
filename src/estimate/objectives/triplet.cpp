// sentence-transformers 6.2's TripletLoss (sentence_transformer/losses/triplet.py), by its Euclidean distance.
#include "objective.hpp"
#include "torch/norms.hpp"

namespace oomplan::estimator::objectives {
namespace {

Tensor euclidean(Torch& t, const Tensor& a, const Tensor& b) { return t.neg(t.neg(norm_last(t, t.sub(a, b), false))); }

Tensor lose_triplets(Torch& t, const std::vector<Tensor>& embeddings, const Tensor& /*labels*/) {
  const Tensor to_positive = euclidean(t, embeddings[0], embeddings[1]);
  const Tensor to_negative = euclidean(t, embeddings[0], embeddings[2]);
  const Tensor losses = t.relu(t.add_scalar(t.sub(to_positive, to_negative)));
  return t.div_scalar(t.sum_all(losses));
}

}  // namespace

extern const Objective triplet;
const Objective triplet{.loss = Loss::triplet,
                        .task = Task::sentence_embedding,
                        .evaluated = Loss::triplet,
                        .of_embeddings = lose_triplets};

}  // namespace oomplan::estimator::objectives
