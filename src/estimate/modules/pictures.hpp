// What networks of convolutions are made of, over batch × channels × height × width.
#pragma once

#include <string>

#include "modules/conv_adapter.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// torch.nn.Conv2d with a square kernel; `groups` divides the channels that go in.
class Conv2d {
 public:
  struct Shape {
    std::int64_t in = 1;
    std::int64_t out = 1;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;
    bool bias = true;
  };

  Conv2d() = default;
  Conv2d(Builder& b, const std::string& name, const Shape& shape);
  Tensor operator()(Play& play, const Tensor& x) const;
  DType dtype() const { return weight_->dtype; }

 private:
  Shape shape_{};
  Tensor weight_{};
  Tensor bias_{};
  ConvAdapter adapter_{};
};

/// torch.nn.BatchNorm2d in training, whose statistics are buffers.
class BatchNorm2d {
 public:
  BatchNorm2d() = default;
  BatchNorm2d(Builder& b, const std::string& name, std::int64_t channels);
  Tensor operator()(Play& play, const Tensor& x) const;

 private:
  Tensor weight_{};
  Tensor bias_{};
  Tensor mean_{}, variance_{}, batches_{};
};

/// The height and width of the batch's pictures, as the plan has them, or `usual`.
struct PictureSize {
  std::int64_t height = 1;
  std::int64_t width = 1;
};
PictureSize picture_size(const Builder& b, std::int64_t usual);

/// x.mean([-2, -1]), of which `keep` keeps both.
Tensor mean_of_pixels(Torch& t, const Tensor& x);

/// x.mean(dim=1)
Tensor mean_of_rows(Torch& t, const Tensor& x);

}  // namespace oomplan::estimator
