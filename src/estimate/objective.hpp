// What makes a loss of a model's hidden states: a file of objectives/ each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "head.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// When the model returns, and what. `itself`: `play` calls Policy::leave_model between the head and the loss.
enum class Leaves : std::uint8_t { with_the_loss, with_the_hidden_states, itself };

/// A loss as one library computes it. `play` takes stream.hidden and stream.labels, leaves stream.loss, and
/// stream.logits where it makes any that its caller is given.
struct Objective {
  Loss loss = Loss::full_logits;  ///< As plans name it,
  Task task = Task::causal_lm;    ///< for models of this task,
  Loss evaluated = loss;          ///< and the one that takes its place in evaluation.
  void (*play)(Play& play, const Head& head, Stream& stream) = nullptr;
  /// Whether it is the loss of the logits as the model scales and caps them.
  bool as_finished = true;
  const Objective* other_version = nullptr;  ///< Another one of the same file.
  /// Where the trainer makes the loss by itself, of the model's output. `play` is null where the model is given no
  /// labels; else it is what the model makes of them, a loss of its own that its output holds meanwhile.
  /// `labelled`: how many positions have a label.
  Tensor (*of_logits)(Torch& torch, const Tensor& logits, const Tensor& labels, std::int64_t labelled) = nullptr;
  /// Where a loop of the framework's own makes stream.loss of what `play` has the model return: stream.logits, or
  /// chunks of them in stream.returned. The loop's variables hold them and the batch until the next ones are made.
  void (*of_output)(Torch& torch, Stream& stream) = nullptr;
  /// Where the trainer makes the loss of the embeddings of a row's columns, and of its labels; `play` is null.
  Tensor (*of_embeddings)(Torch& torch, const std::vector<Tensor>& embeddings, const Tensor& labels) = nullptr;
  /// A loop of the framework's own may make it of what the model has returned.
  Leaves leaves = Leaves::with_the_loss;
  /// Whether such a loop makes it before it leaves autocast, and holds the batch until the next one is made.
  bool in_loop = false;
};

/// Of a model that is given no labels: its logits, and no loss.
extern const Objective logits_alone;

/// The labels of each row's next tokens, padded by one that no loss counts: ForCausalLMLoss and its like.
Tensor shifted_labels(Torch& t, const Tensor& labels);

/// Null where models of that task have no such loss.
const Objective* find_objective(Loss loss, Task task);

}  // namespace oomplan::estimator
