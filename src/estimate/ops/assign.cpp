// One variable of a block gets the value of another: `attn_outputs = hidden_states`.
#include "modules/variable.hpp"

namespace oomplan::estimator::ops {
namespace {

class Assign final : public Module {
 public:
  Assign(const Attributes& a, Builder&)
      : to_(a.choice("to", variable_names)), from_(a.choice("from", variable_names)) {}
  void forward(Play&, Stream& s) const override { variable(s, to_) = variable(s, from_); }

 private:
  std::size_t to_;
  std::size_t from_;
};

}  // namespace

extern const OpType assign;
const OpType assign{"assign", make_module<Assign>};

}  // namespace oomplan::estimator::ops
