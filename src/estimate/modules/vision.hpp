// What models that see are made of beside linear layers and norms: patches, and features put in place of tokens.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "modules/conv_adapter.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// Where a frozen model is checkpointed, what its embeddings make is asked for a gradient: transformers finds the
/// module that makes it in each of the model's parts (modeling_utils.py: enable_input_require_grads), but for
/// transformers 4.
void ask_for_gradient(const Facts& facts, const Tensor& embedded);

/// A plan's images are such as no figure is known for.
void refuse_images(Builder& b, std::string message, std::string hint);

/// How many patches of so many pixels a side the images of a batch have in all. Their size is the plan's; where it has
/// none, one that is no multiple of `step`, or one of more patches than `most`, that is a problem of the builder's.
struct Grid {
  std::int64_t height = 1;  ///< In patches.
  std::int64_t width = 1;
};
Grid grid_of(Builder& b, std::int64_t patch, std::int64_t step,
             std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Refuses a plan whose rows are shorter than the tokens of their images: transformers raises a ValueError where tokens
/// and features are not as many.
void check_room(Builder& b, std::int64_t tokens);

/// Whether what is being built is a layer of a tower. Axolotl's kernels join what the language model's layers have.
bool is_in_tower(const Builder& b);

/// The tiles that a batch has in all.
std::int64_t tiles_of(const Facts& facts);

/// Puts into the batch the pixels of its images, of these sizes for each of them.
void send_pixels(Torch& t, const Facts& facts, Stream& s, const Dims& sizes);

/// A torch.nn.Conv2d or Conv3d whose steps are as wide as its kernel: a row of `width` for each patch.
class PatchConvolution {
 public:
  PatchConvolution() = default;
  /// `patch`: the numbers that a patch has.
  PatchConvolution(Builder& b, const std::string& name, std::int64_t patch, std::int64_t width, bool bias);

  /// x in the weight's dtype, convolved to `sizes`, of which the second is the width.
  Tensor operator()(Play& play, const Tensor& x, const Dims& sizes) const;
  DType dtype() const { return weight_->dtype; }

 private:
  Tensor weight_{};
  Tensor bias_{};
  ConvAdapter adapter_{};
  std::int32_t module_ = -1;
};

/// into.masked_scatter(mask, source); the mask is of `into` but for its last dimension.
Tensor masked_scatter(Torch& t, const Tensor& into, const Tensor& mask, const Tensor& source);

/// torch.cat(list(x)) or torch.cat(torch.split(x)): of the parts of x along its first dimension.
Tensor cat_of_parts(Torch& t, const Tensor& x, const Dims& sizes);

}  // namespace oomplan::estimator
