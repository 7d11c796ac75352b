// A model built from its Architecture, ready to be played.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "head.hpp"
#include "play.hpp"
#include "repetition.hpp"

namespace oomplan::estimator {

using Modules = std::vector<std::unique_ptr<Module>>;

/// Of a block's masks, those that it is called with in their places, not by name.
struct InOrder {
  bool own = false;
  bool cross = false;
};

/// What a model picks for a block by its kind (masking_utils' mapping of masks).
struct OfKind {
  Span mask = Span::full;
  std::optional<Span> rotation{};  ///< None: all that there are.
};

/// The modules and weights of a model. Of many equal layers only some are built, as a Repetition says.
struct Model {
  struct Segment {
    Modules stem{};
    std::vector<std::shared_ptr<const Modules>> blocks{};  ///< One more than once where layers share weights.
    std::vector<Modules> before{};                         ///< What is done before each block is called,
    std::vector<Modules> after{};                          ///< … and with what it gives.
    std::vector<bool> trains{};                            ///< Of each block, whether some parameter of it is trained.
    std::vector<bool> checkpointed{};                      ///< Of each block, whether it is where blocks are.
    std::vector<OfKind> of_kind{};                         ///< Of each block, what it is called with of its kind alone.
    std::vector<InOrder> in_order{};                       ///< Of each, which masks it is called with in their places.
    bool decodes = false;
    Modules tail{};
    bool tower = false;
    bool silent = false;
    bool hears = false;
    bool merges = false;
    std::int64_t taken = -1;  ///< Of its blocks, the one whose output features are made of; -1: none.
  };
  std::vector<Segment> body{};
  int first_segment = 0;         ///< Of those of a run's models.
  std::int16_t first_layer = 0;  ///< Of those that a run builds.
  Modules tail{};
  int last_norm = -1;  ///< Of the tail, the norm that comes last.
  std::unique_ptr<Head> head{};
  std::unique_ptr<Head> values{};  ///< The head of values beside it, where there is one.
  Parameters parameters{};
  std::unique_ptr<Policy> policy{};  ///< How the rank holds it.
  std::int64_t features = 0;         ///< Numbers of a clip, where rows are such and no tokens.
  std::vector<std::string> modules{};
  bool scans = false;                            ///< As Builder has it.
  bool remembers = false;                        ///< The same.
  std::vector<std::string> unmatched_targets{};  ///< Of LoRA, that no module is.
  std::int64_t total = 0;
  std::int64_t trained = 0;
  bool checkpoints_trained = false;  ///< Blocks of which something is trained are checkpointed, and no others.

  /// Adds what the modules want of a batch.
  void collate(Torch& torch, const Facts& facts, Stream& stream) const;
  /// The base model: leaves hidden states in the stream. What its forward function holds is let go at its end.
  void base(Play& play, Stream& stream) const;
};

/// Builds the layers of `architecture` that `repetition` names. `before`: the model of the run that was built before
/// it, whose names of modules come first, so that a run has one list of them. `first_segment`: how many segments stand
/// before its own, where its layers are not those of that model. `owner`: what its modules' names begin with.
Result<Model> build(Torch& torch, const Facts& facts, const Architecture& architecture, const Repetition& repetition,
                    std::unique_ptr<Policy> policy, const Model* before = nullptr, int first_segment = 0,
                    const std::string& owner = {});

}  // namespace oomplan::estimator
