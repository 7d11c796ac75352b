// The rules of transformers 5.23's feature extractors, from a sound to the frames of its spectrogram.
#include "sounds.hpp"

#include <algorithm>

#include "media_errors.hpp"

namespace oomplan::estimator {
namespace {

std::int64_t number(const OpSpec& spec, std::string_view name, std::int64_t otherwise) {
  const Attribute* a = spec.find(name);
  const auto* value = a == nullptr ? nullptr : std::get_if<std::int64_t>(a);
  return value == nullptr ? otherwise : *value;
}

std::int64_t halved(std::int64_t frames, std::int64_t times) {
  for (; times > 0; --times) frames = divided_up(frames, 2);
  return frames;
}

}  // namespace

// A frame each `hop` samples, of which the last has `window` of them: of 1, as WhisperFeatureExtractor counts those
// that are no padding. It makes all as long as `most`, and cuts what is longer. A token stands for the frames that
// are one once a convolution has `halved` them so many times, of each `chunk` by itself where there are such, and so
// many of these are `pooled`.
std::optional<Diagnostic> hear(const OpSpec& processor, const std::string& model, std::int64_t milliseconds,
                               Images& sounds) {
  if (processor.op != "frames")
    return undecided_media(model, "a feature extractor's rule " + processor.op + " is not known", sounds);
  if (milliseconds <= 0) {
    Diagnostic d = undecided_media(model, "the length of its sounds decides what it holds, and is not known", sounds);
    d.hint = "set clip_milliseconds (--set clip_milliseconds=8000), to how long each is.";
    return d;
  }
  constexpr std::int64_t thousand = 1000;
  const std::int64_t samples = saturating_mul(milliseconds, number(processor, "rate", 16000)) / thousand;
  const std::int64_t window = number(processor, "window", 1);
  if (samples < window) return undecided_media(model, "a sound of less than a frame is not modelled", sounds);
  sounds.frames = (samples - window) / number(processor, "hop", 1) + 1;
  const std::int64_t most = number(processor, "most", 0);
  if (most > 0) sounds.frames = std::min(sounds.frames, most);
  sounds.room = most;
  const std::int64_t chunk = number(processor, "chunk", 0);
  const std::int64_t times = number(processor, "halved", 0);
  sounds.tokens = halved(chunk > 0 ? sounds.frames % chunk : sounds.frames, times);
  if (chunk > 0) sounds.tokens += saturating_mul(sounds.frames / chunk, halved(chunk, times));
  sounds.tokens /= number(processor, "pooled", 1);
  if (sounds.tokens < 1) return undecided_media(model, "a sound of less than a token is not modelled", sounds);
  return {};
}

}  // namespace oomplan::estimator
