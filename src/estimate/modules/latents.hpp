// What denoisers of latent pictures are given: latents and noise of an eighth of the picture's size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "modules/pictures.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// Of the plan's pictures, or `usual` where it has no size of them; 0: then it must have one. What is no multiple of 8
/// pixels, or of 8 · `step`, is a problem of the builder's.
PictureSize latent_size(Builder& b, std::int64_t usual, std::int64_t step = 1);

/// In what training scripts hold latents and embeddings (weight_dtype): the dtype that the model computes in.
DType latent_dtype(const Facts& facts);

/// Puts latents (the first of `sent`), noise (the labels) and the mixture of both (the pixels) into the batch.
void send_latents(Torch& t, const Facts& facts, Stream& s, const Dims& sizes);

/// The numbers of an attribute that is a list of them ("320|640"); none are one that is not given.
std::vector<std::int64_t> numbers_in(const Attributes& a, std::string_view name);
/// The one at `place`; of a list of one, that.
std::int64_t number_in(const Attributes& a, std::string_view name, std::size_t place);
/// The words of a list ("DownBlock2D|DownBlock2D").
std::vector<std::string> words_in(const Attributes& a, std::string_view name);

}  // namespace oomplan::estimator
