// Phi4MultimodalAudioEmbedding.forward after its encoder: two layers over what that made, of which there are two pairs,
// for rows of sounds alone and for those that have pictures too; and the clips' features in one row.
#include "modules/linear.hpp"
#include "modules/vision.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class SpeechFeatures final : public Module {
 public:
  SpeechFeatures(const Attributes& a, Builder& b) : beside_pictures_(b.media_tokens > 0) {
    const std::int64_t out = a.integer("out");
    const auto layer = [&](const std::string& name, std::int64_t width) {
      return Linear(b, a.module() + "." + name, width, out, true);
    };
    for (auto& [pair, name] : {std::pair(&alone_, "speech"), std::pair(&with_pictures_, "vision_speech")}) {
      pair->up = layer(std::string("up_proj_for_") + name, a.integer("width"));
      pair->down = layer(std::string("down_proj_for_") + name, out);
    }
    constexpr std::int64_t most_clips = 256;
    if (tiles_of(b.facts) > most_clips) a.unmodelled("so many sounds, which are put together one by one");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.arguments.mask(Span::full).reset();
    s.sent.clear();
    const Pair& pair = beside_pictures_ ? with_pictures_ : alone_;
    s.hidden = pair.up(play, s.hidden);
    s.hidden = t.gelu(s.hidden);
    s.seen.kept.push_back(s.hidden);
    s.hidden = pair.down(play, s.hidden);
    s.seen.kept.push_back(s.hidden);
    std::vector<Tensor> clips;
    for (std::int64_t i = 0; i < s.hidden->sizes[0]; ++i) clips.push_back(t.select(s.hidden, 0));
    s.hidden = cat_all(t, clips, 0);
  }

 private:
  struct Pair {
    Linear up{}, down{};
  };

  bool beside_pictures_;  ///< Rows have some too.
  Pair alone_{}, with_pictures_{};
};

}  // namespace

extern const OpType speech_features;
const OpType speech_features{"speech_features", make_module<SpeechFeatures>};

}  // namespace oomplan::estimator::ops
