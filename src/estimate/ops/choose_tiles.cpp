// The tiles of LLaVA-NeXT's processor: a picture at the tower's size, and those of the best of the sizes that the
// config lists. It stands before the tower, which then knows how many there are.
#include "modules/best_size.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class ChooseTiles final : public Module {
 public:
  ChooseTiles(const Attributes& a, Builder& b) : counts_(a.flag("counts", false)) {
    const BestSize best = best_size(a, b);
    b.tiles_by_size = best.tiles();
    if (b.facts.images.tiles > 1) {
      refuse_images(b, "the size of an image says how many tiles it has, beside image_tiles",
                    "leave out image_tiles; image_height and image_width are those of the picture itself.");
    }
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    s.sent.push_back(t.empty({saturating_mul(f.batch, f.images.count), 2}, DType::int64, "batch"));  // image_sizes
    if (counts_) s.sent.push_back(t.empty({f.batch}, DType::int64, "batch"));                        // batch_num_images
  }

  void forward(Play&, Stream&) const override {}

 private:
  bool counts_;
};

}  // namespace

extern const OpType choose_tiles;
const OpType choose_tiles{"choose_tiles", make_module<ChooseTiles>};

}  // namespace oomplan::estimator::ops
