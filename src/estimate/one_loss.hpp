// What most recipes do: rows arrive, a loss is made of them, and it goes backward.
#pragma once

#include "recipe.hpp"

namespace oomplan::estimator {

/// Where the loss is: in the rows themselves, or in what they hold.
template <class Rows>
Stream& stream_of(Rows& rows) {
  if constexpr (requires { rows.rows.stream; }) {
    return rows.rows.stream;
  } else if constexpr (requires { rows.stream; }) {
    return rows.stream;
  } else {
    return rows;
  }
}

/// Forward, loss and backward. `arrive`: (Stage&, const Facts&) to the rows; `lose`: (Stage&, const Facts&, rows&)
/// leaves the loss in their stream. Checkpoints look at `facts` in backward.
template <class Arrive, class Lose>
void train_on(Stage& stage, const Facts& facts, Arrive arrive, Lose lose) {
  stage.begin(Phase::between);
  auto rows = arrive(stage, facts);
  stage.begin(Phase::forward);
  lose(stage, facts, rows);
  stage.backward(stream_of(rows));
  stage.begin(Phase::between);
}

/// The same without gradients, as evaluation.
template <class Arrive, class Lose>
void evaluate_on(Stage& stage, const Facts& facts, Arrive arrive, Lose lose) {
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    auto rows = arrive(stage, facts);
    lose(stage, facts, rows);
  });
}

}  // namespace oomplan::estimator
