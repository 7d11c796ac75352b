// The head of models of rewards and of classifiers made of causal models: scores for each position, of which those of
// the last of a row count
// (transformers 5.23: modeling_layers.py GenericForSequenceClassification).
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

class ScoreHead final : public Head {
 public:
  ScoreHead(const Attributes& a, Builder& b) {
    const std::int64_t width = a.integer("width");
    const bool rewards = b.facts.scores_rows;
    projection_ = rewards ? Linear::head(b, "score", width, 1, false, Tensor())
                          : Linear::classifier(b, "score", width, b.facts.labels, false, "score");
    classifies = !rewards;
    scores_tokens = true;
  }
};

}  // namespace

extern const HeadType score_head;
const HeadType score_head{"score_head", make_head<ScoreHead>};

}  // namespace oomplan::estimator::heads
