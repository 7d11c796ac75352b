// What a run does: a file of recipes/ each, which directs a Stage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model.hpp"
#include "objective.hpp"
#include "oomplan/plan/plan.hpp"
#include "optimizer.hpp"

namespace oomplan::estimator {

/// What a model is there for. The policy is the one that is trained; what it becomes is held against the reference, of
/// the same architecture. The teacher has one of its own.
enum class Role : std::uint8_t { policy, reference, teacher };

/// A model of a run.
struct Cast {
  Role role = Role::policy;
  Model model{};
};

/// What a recipe plays with: the models, and the ways to run them.
class Stage {
 public:
  Stage(Torch& torch, std::vector<Cast>& models, const TrainingPlan& plan, const Facts& facts)
      : torch_(torch), models_(models), plan_(plan), facts_(facts) {}

  Torch& torch() { return torch_; }
  const TrainingPlan& plan() const { return plan_; }
  /// Of a micro-batch of training: `length` is of the step at hand.
  Facts& facts() { return facts_; }
  /// What differs where `role` plays with the facts of the policy. Of a reference: no adapter, and of Liger only what
  /// it replaces in all models of the kind at once. Of a teacher all but the rows.
  static Facts facts_of(Role role, Facts facts);
  /// The same in evaluation: its rows, and no checkpoints.
  Facts evaluation_facts() const;
  const Model& model(Role role) const;
  std::vector<Cast>& models() { return models_; }
  /// What `prepare` leaves to a step's micro-batches, until the next step's takes its place.
  std::vector<Tensor>& prepared() { return prepared_; }
  /// Weights in 4 bits that others took the place of, and that what wraps the model holds on to.
  std::vector<Tensor>& replaced() { return replaced_; }
  /// Trainer.get_batch_samples (transformers 5.23.0) fetches all micro-batches of a step before the first, and holds
  /// them until the next step's are there: here those beside the one at hand. `make` makes what the collator hands over
  /// of one; each kind of tensor of the others stands in one piece.
  void fetch_others(const std::function<std::vector<Tensor>()>& make);
  /// What the variables of the loop hold of the micro-batch before (Objective::of_output).
  Stream& held() { return held_; }

  void begin(Phase phase) { torch_.recorder.mark(phase); }
  /// A batch of language modelling arrives: ids, labels, and a mask where rows are padded.
  Stream batch(const Facts& facts);
  /// model(**batch) under the trainer's autocast: the base model, then the objective. Only what that returns and the
  /// batch are left in the stream.
  void call(Role role, const Facts& facts, const Objective& objective, Stream& stream);
  /// The same with what `head_and_loss` makes of the hidden states in the objective's place, whose logits nobody
  /// raises.
  void call(Role role, const Facts& facts, Stream& stream, const std::function<void(Play&, const Head&)>& head_and_loss,
            Leaves leaves = Leaves::with_the_loss, bool of_objective = false);
  /// Runs `body` with no gradients, and in eval() no dropout.
  void without_training(const std::function<void()>& body);
  /// loss.backward(), and what accelerate does to a loss before it.
  void backward(Stream& stream);

 private:
  bool backward_in_autocast() const;
  void raise_outputs(Stream& stream);

  Torch& torch_;
  std::vector<Cast>& models_;
  const TrainingPlan& plan_;
  Facts facts_;
  std::vector<Tensor> prepared_{};
  std::vector<Tensor> replaced_{};
  Stream held_{};
};

/// The roles of a recipe that needs no other model.
std::span<const Role> policy_alone(const TrainingPlan& plan);

/// A kind of run. Steps are played until one leaves what it found; each is its micro-batches and the optimizer.
struct Recipe {
  std::string_view name{};
  std::span<const Role> (*roles)(const TrainingPlan& plan) = nullptr;  ///< Its models, the policy first, as loaded.
  /// Forward, loss and backward of one micro-batch. Nothing that it does may hang on anything but the batch's length
  /// and whether parameters have gradients already: it is played once for each, and repeated where the policy repeats.
  void (*micro_batch)(Stage& stage) = nullptr;
  void (*before)(Stage& stage) = nullptr;    ///< Once, between loading and the first step; null: nothing.
  void (*evaluate)(Stage& stage) = nullptr;  ///< A batch of evaluation, between two steps; null: it is none's.
  void (*prepare)(Stage& stage) = nullptr;   ///< Before each step's micro-batches; null: nothing.
  bool holds = false;                        ///< A micro-batch leaves something to the next one (Stage::held).
};

/// The recipe of that name, or null.
const Recipe* find_recipe(std::string_view name);

}  // namespace oomplan::estimator
