// hidden_states = first + second + third, as a block with attention and MLP side by side ends; or of two.
#include "modules/variable.hpp"

namespace oomplan::estimator::ops {
namespace {

class Sum final : public Module {
 public:
  Sum(const Attributes& a, Builder&)
      : first_(a.choice("first", variable_names)),
        second_(a.choice("second", variable_names)),
        third_(a.choice("third", variable_names)),
        two_(a.find("third") == nullptr) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor two = t.add(variable(s, first_), variable(s, second_));
    s.hidden = two_ ? two : t.add(two, variable(s, third_));
  }

 private:
  std::size_t first_;
  std::size_t second_;
  std::size_t third_;
  bool two_;
};

}  // namespace

extern const OpType sum;
const OpType sum{"sum", make_module<Sum>};

}  // namespace oomplan::estimator::ops
