// Attention over pictures, or windows of them, that stand one after the other in one row.
#pragma once

#include <vector>

#include "play.hpp"

namespace oomplan::estimator {

/// So many pieces of so many tokens each.
struct Pieces {
  std::int64_t count = 1;
  std::int64_t length = 1;
};

/// q, k, v: 1 × heads × tokens × width, in pieces; the models' own code calls attention for each and puts the outputs
/// together (torch.split, torch.cat). Returns 1 × tokens × heads × width.
Tensor attend_in_pieces(Play& play, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::vector<Pieces>& pieces);

/// The same of tokens × heads × width, which become views with the heads in front, where each picture or clip of the
/// batch has these pieces.
Tensor attend_one_by_one(Play& play, Stream& s, Tensor& q, Tensor& k, Tensor& v, std::vector<Pieces> of_one);

}  // namespace oomplan::estimator
