// torchtitan's freqs_cis: a complex number in fp32 for each pair of a head's elements and each position that the run
// has.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class TitanRotaryTable final : public Module {
 public:
  TitanRotaryTable(const Attributes& a, Builder& b) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    table_ = b.torch.empty({b.facts.length, a.integer("width")}, DType::fp32, "buffer");
  }

  void forward(Play&, Stream& s) const override { s.arguments.cos[0] = table_; }

 private:
  Tensor table_{};
};

}  // namespace

extern const OpType titan_rotary_table;
const OpType titan_rotary_table{"titan_rotary_table", make_module<TitanRotaryTable>};

}  // namespace oomplan::estimator::ops
