// hidden_states = first + second + third, as a block with attention and MLP side by side ends.
#include "modules/variable.hpp"

namespace oomplan::estimator::ops {
namespace {

class Sum final : public Module {
 public:
  Sum(const Attributes& a, Builder&)
      : first_(a.choice("first", variable_names)),
        second_(a.choice("second", variable_names)),
        third_(a.choice("third", variable_names)) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = t.add(t.add(variable(s, first_), variable(s, second_)), variable(s, third_));
  }

 private:
  std::size_t first_;
  std::size_t second_;
  std::size_t third_;
};

}  // namespace

extern const OpType sum;
const OpType sum{"sum", make_module<Sum>};

}  // namespace oomplan::estimator::ops
