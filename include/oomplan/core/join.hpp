// What a config predicts, held against what a dead run left behind. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/estimate/footprint.hpp"

namespace oomplan {

/// What the estimator says of a config, as far as a diagnosis can use it.
struct Prediction {
  std::string config{};                    ///< The file as the user named it.
  std::vector<PhasePeak> peaks{};          ///< As Footprint's.
  std::vector<LiveGroup> allocations{};    ///< Every allocation of the run.
  std::optional<std::int64_t> reserved{};  ///< By PyTorch's allocator at the most, on an unlimited card.
  std::string gpu{};                       ///< The GPU that the user named; empty without one, and the next three 0.
  std::int64_t gpu_total = 0;
  std::int64_t beside = 0;  ///< CUDA context and workspaces.
  std::int64_t needed = 0;  ///< In all, on that GPU.
  std::string problem{};    ///< Why there is no prediction; then all but `config` is empty.
};

/// One figure of both.
struct Compared {
  std::string what{};  ///< "tensors", "reserved", "process", "gpu", or a category of a memory snapshot.
  std::int64_t predicted = 0;
  std::int64_t observed = 0;
  friend bool operator==(const Compared&, const Compared&) = default;
};

/// Tensors of the run whose allocation may be the one that failed.
struct Match {
  LiveGroup tensors{};
  std::int64_t bytes = 0;   ///< Of one of them, rounded up to 512.
  bool same_phase = false;  ///< Made in the phase in which the log says that it failed.
};

struct Join {
  std::string config{};
  std::string problem{};  ///< Why the config could not be estimated; then the rest is empty.
  std::string phase{};    ///< Whose highest moment was taken: "loss"; empty for the run's.
  std::vector<Compared> compared{};
  std::string requested{};       ///< As the log has it; empty where it has none of the GPU.
  std::vector<Match> matches{};  ///< The likeliest first, at most five.
  std::int64_t more_matches = 0;
  std::vector<std::string> contradictions{};
};

}  // namespace oomplan
