// What a model of pairs made of its pictures, until its texts are done too; the picture's other variables die.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class EndPicture final : public Module {
 public:
  EndPicture(const Attributes&, Builder&) {}

  void forward(Play&, Stream& s) const override {
    s.taken = std::exchange(s.hidden, {});
    s.leave_base();
  }
};

}  // namespace

extern const OpType end_picture;
const OpType end_picture{"end_picture", make_module<EndPicture>};

}  // namespace oomplan::estimator::ops
