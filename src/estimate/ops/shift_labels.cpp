// shift_tokens_right, T5's _shift_right: the labels, moved on by one, are what a decoder is given; or where the labels
// are not text, the row itself, which some families move elsewhere (`of_rows`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ShiftLabels final : public Module {
 public:
  ShiftLabels(const Attributes& a, Builder& b)
      : here_(a.find("of_rows") == nullptr || a.flag("of_rows", false) == labels_rows(b.facts.task)) {}

  void forward(Play& play, Stream& s) const override {
    if (!here_) return;
    Torch& t = play.torch;
    const Dims sizes{play.facts.batch, play.facts.target_length};
    s.decoder_ids = t.empty(sizes, DType::int64, "aten::new_zeros");
    t.empty({sizes[0], sizes[1] - 1}, DType::int64, "aten::clone");
    t.empty(sizes, DType::boolean, "aten::eq");
  }

 private:
  bool here_;
};

}  // namespace

extern const OpType shift_labels;
const OpType shift_labels{"shift_labels", make_module<ShiftLabels>};

}  // namespace oomplan::estimator::ops
