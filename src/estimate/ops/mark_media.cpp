// Gemma4Model.forward before its language model: which tokens stand for images, videos and sounds, ids without those,
// and, where layers have inputs of their own, an embedding without them that is made and not read.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MarkMedia final : public Module {
 public:
  MarkMedia(const Attributes& a, Builder&) : padded_(a.count("per_layer") > 0) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims sizes = s.input_ids->sizes;
    for (const char* op : {"aten::eq", "aten::eq", "aten::eq", "aten::bitwise_or"})
      s.seen.kept.push_back(t.empty(sizes, DType::boolean, op));
    s.seen.kept.push_back(t.empty(sizes, DType::int64, "aten::where"));
    s.seen.mask = t.unsqueeze(s.seen.kept[3], 2);
    if (!padded_) return;
    NodeRef node = t.record("WhereBackward0", {&s.inputs_embeds}, [](Torch&, Node&, Grads&) {});
    t.save(node, 0, s.seen.mask);
    s.seen.kept.push_back(t.attach(node, t.empty(s.inputs_embeds->sizes, s.inputs_embeds->dtype, "aten::where")));
  }

 private:
  bool padded_;
};

}  // namespace

extern const OpType mark_media;
const OpType mark_media{"mark_media", make_module<MarkMedia>};

}  // namespace oomplan::estimator::ops
