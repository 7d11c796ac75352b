// view(-1, hidden_size): squares of patches become rows as many times as wide.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergeSquares final : public Module {
 public:
  MergeSquares(const Attributes& a, Builder&) : width_(a.integer("width")) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.view(s.hidden, {-1, width_}); }

 private:
  std::int64_t width_;
};

}  // namespace

extern const OpType merge_squares;
const OpType merge_squares{"merge_squares", make_module<MergeSquares>};

}  // namespace oomplan::estimator::ops
