// BeitDropPath and its like (stochastic depth).
#include "modules/drop_path.hpp"

namespace oomplan::estimator::ops {
namespace {

class DropPath final : public Module {
 public:
  DropPath(const Attributes& a, Builder&) : drops_(a.number("p", 0.0) > 0.0) {}

  void forward(Play& play, Stream& s) const override {
    if (drops_) s.hidden = drop_rows(play.torch, s.hidden);
  }

 private:
  bool drops_;
};

}  // namespace

extern const OpType drop_path;
const OpType drop_path{"drop_path", make_module<DropPath>};

}  // namespace oomplan::estimator::ops
