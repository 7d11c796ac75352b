// A projection of the embedding's width to the model's, or back, where they differ (OPT's project_in, project_out), or
// `always` (ALBERT's, whose caller keeps what it is given).
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class Project final : public Module {
 public:
  Project(const Attributes& a, Builder& b) : always_(a.flag("always", false)) {
    const std::int64_t from = a.integer("width");
    const std::int64_t to = a.integer("inner");
    if (from != to || always_) projection_ = Linear(b, a.module(), from, to, a.flag("bias", false));
  }

  void forward(Play& play, Stream& s) const override {
    if (projection_.in_width() == 0) return;
    const bool of_inputs = !always_ && s.inputs_embeds.get() == s.hidden.get();
    s.hidden = projection_(play, s.hidden);
    if (of_inputs) s.inputs_embeds = s.hidden;
  }

 private:
  bool always_;
  Linear projection_{};
};

}  // namespace

extern const OpType project;
const OpType project{"project", make_module<Project>};

}  // namespace oomplan::estimator::ops
