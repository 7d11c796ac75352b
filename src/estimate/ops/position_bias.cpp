// ALiBi: what is added to the products of queries and keys by the key's place. Bloom has it for each head of each row,
// in the model's dtype; MPT for each head alone, as long as the model's longest row, in fp32.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PositionBias final : public Module {
 public:
  PositionBias(const Attributes& a, Builder&) : heads_(a.integer("heads")), length_(a.integer("length", 0)) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    if (length_ != 0) {
      s.arguments.bias = t.empty({heads_, 1, length_}, DType::fp32, "aten::mul");
      return;
    }
    const Tensor one = t.empty({heads_, 1, f.length}, DType::fp32, "aten::mul");
    const Tensor each = t.empty({saturating_mul(f.batch, heads_), 1, f.length}, DType::fp32, "aten::repeat");
    s.arguments.bias = t.to(each, s.hidden->dtype);
  }

 private:
  std::int64_t heads_;
  std::int64_t length_;
};

}  // namespace

extern const OpType position_bias;
const OpType position_bias{"position_bias", make_module<PositionBias>};

}  // namespace oomplan::estimator::ops
