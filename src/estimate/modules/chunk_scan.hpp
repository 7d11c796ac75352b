// The chunked scan of Mamba-2 as transformers writes it in Python (mamba2_chunk_scan).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// hidden: batch × length × heads × width; dt: batch × length × heads; A and D: one a head; B and C: batch × length ×
/// groups × state.
struct ChunkScanInputs {
  Tensor hidden{};
  Tensor dt{};
  Tensor a{};
  Tensor b{};
  Tensor c{};
  Tensor d{};
  Tensor dt_bias{};
  std::int64_t chunk = 0;
  bool older = false;  ///< Products are written out and then summed, as before there was a function for it.
};

/// As hidden, in fp32.
Tensor chunk_scan(Torch& t, const ChunkScanInputs& in);

}  // namespace oomplan::estimator
