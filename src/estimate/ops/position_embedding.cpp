// A learned embedding of positions, added to the tokens' (GPT-2's wpe; OPT's, which begins at row `offset`). Both stay
// alive until the model returns, unless they are no names of its own (`held`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PositionEmbedding final : public Module {
 public:
  PositionEmbedding(const Attributes& a, Builder& b)
      : offset_(a.integer("offset", 0)),
        held_(a.flag("held", true)),
        weight_(b.embedding(a.module(), {saturating_add(a.integer("rows"), offset_), a.integer("width")})) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.position_embeds = t.embedding(weight_, offset_ != 0 ? t.add_scalar(s.position_ids) : s.position_ids);
    s.hidden = t.add(s.inputs_embeds, s.position_embeds);
    if (held_) return;
    s.inputs_embeds.reset();
    s.position_embeds.reset();
  }

 private:
  std::int64_t offset_;
  bool held_;
  Tensor weight_;
};

}  // namespace

extern const OpType position_embedding;
const OpType position_embedding{"position_embedding", make_module<PositionEmbedding>};

}  // namespace oomplan::estimator::ops
