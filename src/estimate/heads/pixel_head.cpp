// Of a model whose last step has made its output already: logits of pixels, or a denoiser's.
#include "head.hpp"

namespace oomplan::estimator::heads {
namespace {

class PixelHead final : public Head {
 public:
  PixelHead(const Attributes&, Builder&) { classifies = true; }
};

}  // namespace

extern const HeadType pixel_head;
const HeadType pixel_head{"pixel_head", make_head<PixelHead>};

}  // namespace oomplan::estimator::heads
