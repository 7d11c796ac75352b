// The head of models of rewards: one score for each position, of which the last of a row counts
// (transformers 5.23: modeling_layers.py GenericForSequenceClassification).
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

class ScoreHead final : public Head {
 public:
  ScoreHead(const Attributes& a, Builder& b) : Head(Linear::head(b, "score", a.integer("width"), 1, false, Tensor())) {}
};

}  // namespace

extern const HeadType score_head;
const HeadType score_head{"score_head", make_head<ScoreHead>};

}  // namespace oomplan::estimator::heads
