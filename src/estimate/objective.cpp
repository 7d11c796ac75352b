#include "objective.hpp"

namespace oomplan::estimator {

Tensor shifted_labels(Torch& t, const Tensor& labels) {
  const Tensor padded = t.pad_last(labels, 1);
  return t.view(t.contiguous(t.slice(padded, 1, 1, labels->sizes[1])), {-1});
}

}  // namespace oomplan::estimator
