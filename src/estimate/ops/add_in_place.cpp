// hidden_states += attention_output, as Falcon's block adds them.
#include "modules/variable.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddInPlace final : public Module {
 public:
  AddInPlace(const Attributes& a, Builder&) : from_(a.choice("from", variable_names)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.add_(s.hidden, variable(s, from_)); }

 private:
  std::size_t from_;
};

}  // namespace

extern const OpType add_in_place;
const OpType add_in_place{"add_in_place", make_module<AddInPlace>};

}  // namespace oomplan::estimator::ops
