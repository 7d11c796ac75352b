// litgpt's GPT.max_seq_length: cosines and sines of the run's positions. They are made with the model, and in fp32 anew
// where rows are shorter than the positions that it may have.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class RotaryTable final : public Module {
 public:
  RotaryTable(const Attributes& a, Builder& b) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    const DType dtype = b.facts.length < a.integer("positions") ? DType::fp32 : b.facts.weights;
    for (Tensor* table : {&cos_, &sin_}) *table = b.torch.empty({b.facts.length, a.integer("width")}, dtype, "buffer");
  }

  void forward(Play&, Stream& s) const override {
    s.arguments.cos[0] = cos_;
    s.arguments.sin[0] = sin_;
  }

 private:
  Tensor cos_{};
  Tensor sin_{};
};

}  // namespace

extern const OpType rotary_table;
const OpType rotary_table{"rotary_table", make_module<RotaryTable>};

}  // namespace oomplan::estimator::ops
