// The batches of sentence-transformers' trainer (6.2: base/data_collator.py, base/trainer.py), and what its losses have
// the model make of them.
#pragma once

#include <memory>
#include <vector>

#include "recipe.hpp"

namespace oomplan::estimator {

/// A forward pass of some texts: checkpoints look at its facts in backward.
using PassFacts = std::unique_ptr<const Facts>;

/// What a step of that trainer holds: the columns of text, and the labels and the loss.
struct SentenceBatch {
  std::vector<Stream> columns{};
  std::vector<std::int64_t> lengths{};  ///< Of each column's longest text.
  std::vector<PassFacts> passes{};      ///< Of the forward passes so far.
  std::vector<Tensor> types{};          ///< Those of columns put together, which the embedding of types saves.
  Stream stream{};
};

/// BaseDataCollator.
SentenceBatch sentence_batch(Stage& stage, const Facts& facts);

/// Of a pass of `rows` texts of `length` tokens; the batch holds it.
const Facts& pass_of(SentenceBatch& batch, const Facts& facts, std::int64_t rows, std::int64_t length);

/// model(features)["sentence_embedding"]: what the model puts into them stays there, and accelerate copies it in fp32
/// on its way out.
Tensor embedding_of(Stage& stage, const Facts& pass, Stream& features);

}  // namespace oomplan::estimator
