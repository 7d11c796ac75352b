#include "modules/latents.hpp"

#include <fmt/format.h>

#include <charconv>

#include "modules/vision.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t pixels_of_a_latent = 8;  // AutoencoderKL's of four blocks.

}  // namespace

PictureSize latent_size(Builder& b, std::int64_t usual, std::int64_t step) {
  const Images& i = b.facts.images;
  const bool said = i.height > 0 && i.width > 0;
  const bool some = i.height > 0 || i.width > 0;
  if (!some && usual > 0) return {usual, usual};
  if (!said) {
    refuse_images(b, "the size of its pictures decides what it holds, and is not known",
                  "set image_height and image_width: pixels of the pictures.");
    return {step, step};
  }
  const std::int64_t multiple = saturating_mul(pixels_of_a_latent, step);
  if (i.height % multiple != 0 || i.width % multiple != 0) {
    refuse_images(b, fmt::format("pictures whose sides are no multiples of {} pixels are not modelled", multiple),
                  "image_height and image_width are pixels; latents have an eighth of them.");
    return {step, step};
  }
  return {i.height / pixels_of_a_latent, i.width / pixels_of_a_latent};
}

DType latent_dtype(const Facts& f) { return f.images.dtype.value_or(f.autocast.value_or(f.weights)); }

void send_latents(Torch& t, const Facts& f, Stream& s, const Dims& sizes) {
  const DType dtype = latent_dtype(f);
  s.sent.push_back(t.empty(sizes, dtype, "batch"));
  s.labels = t.empty(sizes, dtype, "batch");
  s.pixels = t.empty(sizes, dtype, "batch");
}

std::vector<std::string> words_in(const Attributes& a, std::string_view name) {
  std::vector<std::string> out;
  const std::string text = a.text(name, "");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<std::int64_t> numbers_in(const Attributes& a, std::string_view name) {
  std::vector<std::int64_t> out;
  for (const std::string& word : words_in(a, name)) {
    std::int64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    out.push_back(number);
  }
  return out;
}

std::int64_t number_in(const Attributes& a, std::string_view name, std::size_t place) {
  const std::vector<std::int64_t> all = numbers_in(a, name);
  if (all.empty()) return 1;
  return std::max<std::int64_t>(all[std::min(place, all.size() - 1)], 1);
}

}  // namespace oomplan::estimator
