// torch.arange(length) + past_seen_tokens, as every decoder's forward begins.
#include <algorithm>

#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PositionIds final : public Module {
 public:
  PositionIds(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    if (play.facts.unsloth) return joined_positions(t, play.facts, s);
    if (play.facts.positions_sent) return;
    const Tensor range = t.empty({play.facts.length}, DType::int64, "aten::arange");
    s.position_ids = t.unsqueeze(t.add_scalar(range), 0);
  }

  /// TRL's collator of joined rows sends their positions, as LLaMA-Factory's second trainer does of all rows.
  void collate(Torch& t, const Facts& facts, Stream& s) const override {
    if (facts.joined > 0) s.sent.push_back(t.empty({1, facts.length}, DType::int64, "batch"));
    if (facts.positions_sent) s.position_ids = positions(t, facts);
  }

 private:
  /// Of rows that ranks share one row's memory, as expand() leaves it, where that is enough for the part of each
  /// (torch's context_parallel: Tensor.resize_).
  static Tensor positions(Torch& t, const Facts& f) {
    const Dims sizes{f.batch, f.length};
    const std::int64_t held = std::max(f.context_parallel.whole, sizes.product());
    if (f.context_parallel.ranks == 1) return t.empty(sizes, DType::int64, "batch");
    return t.alias(t.empty({held}, DType::int64, "batch"), sizes, {f.length, 1});
  }

  /// LlamaModel_fast_forward: those that were sent, in int32, or none.
  static void joined_positions(Torch& t, const Facts& facts, Stream& s) {
    if (facts.joined == 0) return;
    s.position_ids = t.empty({1, facts.length}, DType::int32, "aten::_to_copy");
    s.arguments.position_ids = s.position_ids;
  }
};

}  // namespace

extern const OpType position_ids;
const OpType position_ids{"position_ids", make_module<PositionIds>};

}  // namespace oomplan::estimator::ops
