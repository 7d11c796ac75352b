// What makes logits of the base model's last hidden states: a file of heads/ each.
#pragma once

#include <memory>
#include <string_view>

#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// The part of a model that a loss may replace by a function of its own: what comes before its last matrix, and that.
class Head {
 public:
  Head() = default;
  explicit Head(Linear projection) : projection_(std::move(projection)) {}
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;
  virtual ~Head() = default;

  /// Whether the model's loss makes an fp32 copy of the logits, where that is not its task's.
  bool raised_in_loss = false;
  /// Whether it is no output embedding, whose call begins the loss.
  bool classifies = false;
  /// Whether the model's own loss takes all but the last token's logits, those of real tokens where a mask was sent.
  bool shifts_logits = false;
  /// Whether that loss, and what the model returns, are of an fp32 copy of the logits.
  bool shifts_raised = false;
  /// Whether what the last matrix multiplies has a name in the model's forward function.
  bool names_input = false;
  /// Whether the tokenizer of its models sends types of tokens (token_type_ids).
  bool sends_types = false;
  /// Whether it makes logits of every token where a row has one label.
  bool scores_tokens = false;
  /// Whether what it makes of tokens is averaged over each row.
  bool averages_tokens = false;

  /// What the last matrix multiplies.
  virtual Tensor prepare(Play& play, const Tensor& hidden) const;
  /// As the model's own code makes them. The loss begins with the last matrix. `named` is then what that multiplies,
  /// where the model's forward function has a name for it until it returns.
  Tensor logits(Play& play, const Tensor& hidden, Tensor* named = nullptr) const;
  /// The same of some of the hidden states, whatever Policy the model has.
  Tensor logits_of_part(Play& play, const Tensor& hidden) const {
    return finish(play.torch, projection_(play, hidden));
  }
  /// Of a head that tells pairs: leaves their likeness and its loss in the stream.
  virtual void match(Play& /*play*/, const Tensor& /*texts*/, const Tensor& /*pictures*/, Stream& /*stream*/) const {}
  /// Of a head that makes one embedding of a text's: leaves it in stream.logits.
  virtual void embed(Play& /*play*/, Pooling /*pooling*/, bool /*normalized*/, Stream& /*stream*/) const {}
  /// The last matrix: vocabulary × width.
  const Linear& projection() const { return projection_; }

 protected:
  /// What the model's own code does to the logits.
  virtual Tensor finish(Torch& torch, Tensor logits) const;

  Linear projection_{};
};

using MakeHead = std::unique_ptr<Head> (*)(const Attributes&, Builder&);

/// A row of the registry of heads.
struct HeadType {
  std::string_view name{};
  MakeHead make = nullptr;
};

template <class H>
std::unique_ptr<Head> make_head(const Attributes& attributes, Builder& builder) {
  return std::make_unique<H>(attributes, builder);
}

/// The head of that name, or null.
const HeadType* find_head(std::string_view name);

}  // namespace oomplan::estimator
