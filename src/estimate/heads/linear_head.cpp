// The lm_head of causal language models: one matrix.
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

class LinearHead final : public Head {
 public:
  LinearHead(const Attributes& a, Builder& b)
      : Head(Linear::head(b, a.module(), a.integer("width"), a.integer("vocabulary"), a.flag("bias", false),
                          a.flag("tied", false) ? b.embedding_weight : Tensor())) {}
};

}  // namespace

extern const HeadType linear_head;
const HeadType linear_head{"linear_head", make_head<LinearHead>};

}  // namespace oomplan::estimator::heads
