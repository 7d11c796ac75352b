#include "formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "oomplan/core/text.hpp"
#include "oomplan/plan/texts.hpp"

namespace oomplan::report {
namespace {

/// The numbers that the sentences name.
struct Numbers {
  const TrainingPlan& plan;
  const Architecture& model;
  const Footprint& footprint;
  Bytes size{};

  /// Of a pair there are two.
  std::int64_t rows() const {
    constexpr std::array of_pairs{RecipeKind::dpo,           RecipeKind::reference_free, RecipeKind::reward,
                                  RecipeKind::paired_logits, RecipeKind::reward_values,  RecipeKind::raised_pairs};
    const std::int64_t of_one = std::ranges::count(of_pairs, plan.recipe.kind.value) > 0 ? 2 : 1;
    return saturating_mul(plan.batch.micro_batch_size.value, saturating_mul(of_one, texts_in_row(plan)));
  }
  std::int64_t tokens() const { return saturating_mul(rows(), plan.batch.sequence_length.value); }
  std::string tokens_text() const { return fmt::format("{}×{} tokens", rows(), plan.batch.sequence_length.value); }

  /// The first of `keys` in the model's config, as each family spells it; 0 where it has none.
  std::int64_t config(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
      for (const auto& [name, value] : model.config) {
        if (const auto* number = std::get_if<std::int64_t>(&value); name == key && number) return *number;
      }
    }
    return 0;
  }
  std::int64_t vocabulary() const { return config({"vocab_size"}); }
  std::int64_t hidden() const { return config({"hidden_size", "n_embd"}); }
  std::int64_t heads() const { return config({"num_attention_heads", "n_head"}); }

  /// The bucket's bytes for each of `n` things, to two decimals.
  std::string each(std::int64_t n) const {
    return n <= 0 ? "?" : fmt::format("{:.2f}", static_cast<double>(size.count()) / static_cast<double>(n));
  }
};

std::string weights(const Numbers& n) {
  if (n.plan.recipe.kind.value == RecipeKind::distillation) {
    return fmt::format("every parameter of the student ({}) and of its teacher in the dtype that it is stored in",
                       with_separators(n.footprint.parameters));
  }
  std::string text = fmt::format("every parameter in the dtype that it is stored in: {} parameters × {} B on average",
                                 with_separators(n.footprint.parameters), n.each(n.footprint.parameters));
  if (n.plan.quantization.kind.value == Quantization::none) return text;
  if (n.plan.quantization.kind.value == Quantization::int8) {
    return text + "; int8 stores a byte a weight and a scale for each row of them";
  }
  return text + fmt::format("; {} stores half a byte a weight and a scale for each 64 of them",
                            quantization_names.at(static_cast<std::size_t>(n.plan.quantization.kind.value)));
}

std::string optimizer(const Numbers& n) {
  return fmt::format("what {} keeps for each trained parameter from step to step: {} parameters × {} B on average",
                     n.plan.optimizer.name.value, with_separators(n.footprint.trainable_parameters),
                     n.each(n.footprint.trainable_parameters));
}

std::string gradients(const Numbers& n) {
  return fmt::format(
      "one element for each trained parameter that backward has reached, in the parameter's dtype: {} parameters × {} "
      "B on average",
      with_separators(n.footprint.trainable_parameters), n.each(n.footprint.trainable_parameters));
}

std::string activations(const Numbers& n) {
  const std::string sum = fmt::format("{} × {} layers × {} B on average", n.tokens_text(), n.model.layers,
                                      n.each(saturating_mul(n.tokens(), n.model.layers)));
  if (!n.plan.checkpointing.on.value) return "what each layer's ops save for backward: " + sum;
  if (n.plan.checkpointing.offload.value == Offload::buffered) {
    return fmt::format(
        "with Unsloth's checkpoints layers' inputs wait on the host, but for the last one's, and come back into two "
        "buffers as large as one ({} × {} hidden); in backward one layer at a time has all that its ops save: {}",
        n.tokens_text(), n.hidden(), sum);
  }
  return fmt::format(
      "with gradient checkpointing each layer keeps only its input ({} × {} hidden), and in backward one layer at a "
      "time has all that its ops save: {}",
      n.tokens_text(), n.hidden(), sum);
}

std::string attention_scores(const Numbers& n) {
  const std::int64_t scores = saturating_mul(n.tokens(), saturating_mul(n.plan.batch.sequence_length.value, n.heads()));
  return fmt::format(
      "each head's score of every token with every token: {} × {} tokens × {} heads × {} B over all layers",
      n.tokens_text(), n.plan.batch.sequence_length.value, n.heads(), n.each(scores));
}

/// TRL's head never has the scores of all tokens; what grows with the batch has the width of the hidden states.
std::string chunked_loss(const Numbers& n) {
  return fmt::format(
      "TRL's fused head makes the scores tile by tile, of at most 4,096 tokens × 32,768 words, and keeps the labelled "
      "tokens' hidden states ({} × {} hidden), with their gradients and, where the head is trained, the head's ({} "
      "vocabulary × {} hidden) in backward",
      n.tokens_text(), with_separators(n.hidden()), with_separators(n.vocabulary()), with_separators(n.hidden()));
}

/// Of each chunk backward makes the scores again, and a gradient of the whole head where that is trained.
std::string rerun_loss(const Numbers& n) {
  return fmt::format(
      "TRL's chunked loss makes the scores of 256 labelled tokens at a time (256 × {} vocabulary), and again in "
      "backward, keeps a copy of these tokens' hidden states ({} × {} hidden) and, for each chunk, copies the head "
      "where the product is in another dtype than the head ({} vocabulary × {} hidden)",
      with_separators(n.vocabulary()), n.tokens_text(), with_separators(n.hidden()), with_separators(n.vocabulary()),
      with_separators(n.hidden()));
}

/// Liger's function makes the gradients with the loss.
std::string fused_linear_loss(const Numbers& n) {
  return fmt::format(
      "Liger's fused linear cross entropy makes the scores in chunks that are about as large as the hidden states ({} "
      "× "
      "{} hidden), whose gradient it holds from then on, with the head's where it is trained ({} vocabulary × {} "
      "hidden)",
      n.tokens_text(), with_separators(n.hidden()), with_separators(n.vocabulary()), with_separators(n.hidden()));
}

/// The kernels make each tile of scores anew, in backward too.
std::string cut_loss(const Numbers& n) {
  return fmt::format(
      "cut cross entropy makes the scores tile by tile on the chip: it keeps a number for each token and, in backward, "
      "holds the hidden states' gradient ({} × {} hidden) and, where the head is trained, the head's ({} vocabulary × "
      "{} hidden)",
      n.tokens_text(), with_separators(n.hidden()), with_separators(n.vocabulary()), with_separators(n.hidden()));
}

/// Unsloth's function makes the gradient with the loss, part after part.
std::string parts_of_loss(const Numbers& n) {
  return fmt::format(
      "Unsloth's fused loss makes the scores and their gradient in parts, of which each would be at most {} in fp32, "
      "and holds the hidden states' gradient ({} × {} hidden) from then on; it sees {} × {} vocabulary",
      to_text(Bytes(n.plan.recipe.loss_part.value)), n.tokens_text(), with_separators(n.hidden()), n.tokens_text(),
      with_separators(n.vocabulary()));
}

std::string logits_and_loss(const Numbers& n) {
  const RecipeKind kind = n.plan.recipe.kind.value;
  const bool smoothed = n.plan.recipe.label_smoothing.value && kind == RecipeKind::supervised;
  const Loss loss = smoothed ? Loss::full_logits : n.plan.recipe.loss.value;
  if (kind == RecipeKind::reward) return "a score for each token, of which the last of a row counts";
  if (kind == RecipeKind::sentence_embedding)
    return "an embedding for each text, and how alike they are, as the loss compares them";
  const bool scored = kind == RecipeKind::dpo || kind == RecipeKind::kto || kind == RecipeKind::grpo;
  if (loss == Loss::chunked_logprob || scored) return chunked_loss(n);
  if (of_labelled_tokens(loss)) return rerun_loss(n);
  if (loss == Loss::cut_cross_entropy) return cut_loss(n);
  if (loss == Loss::unsloth_fused) return parts_of_loss(n);
  constexpr std::array of_logits{Loss::full_logits,          Loss::dynamic_fine_tuning, Loss::entropy_aware,
                                 Loss::masked_entropy_aware, Loss::chunked_output,      Loss::linear_cross_entropy,
                                 Loss::chunked_head,         Loss::chunked_rows,        Loss::sliced_logits,
                                 Loss::summed_logits,        Loss::held_logits,         Loss::weighted_logprob};
  if (std::ranges::count(of_logits, loss) == 0) return fused_linear_loss(n);
  return fmt::format(
      "a score for each token and each word of the vocabulary, in as many copies as the loss and its backward hold at "
      "once: {} × {} vocabulary × {} B over all copies",
      n.tokens_text(), with_separators(n.vocabulary()), n.each(saturating_mul(n.tokens(), n.vocabulary())));
}

std::string autocast_copies(const Numbers& n) {
  return fmt::format(
      "autocast's low-precision copies of fp32 weights, 2 B a weight, kept from first use to the end of the forward "
      "pass or to that layer's backward: {} weights",
      with_separators(n.size.count() / 2));
}

std::string temporaries(const Numbers&) {
  return "what lives inside one op or between two, then is gone: the list is the whole of it, no sum over layers";
}

std::string inputs(const Numbers& n) {
  return fmt::format("the batch (8 B a token for each of its tensors: {}) and the model's own buffers",
                     n.tokens_text());
}

std::string gathered(const Numbers& n) {
  return fmt::format(
      "parameters made whole from the shards of {} ranks, a block at a time and the rest throughout, and the buffers "
      "that "
      "bring them",
      n.plan.mesh.world_size.value);
}

std::string communication(const Numbers& n) {
  if (is_pipelined(n.plan.mesh)) {
    const bool shared = n.plan.mesh.sharding.value != Sharding::none;
    return fmt::format(
        "buffers in which a stage receives activations and gradients of {} micro-batches ({} × {} hidden each){}",
        n.plan.mesh.pipeline_micro_batches.value, n.tokens_text(), with_separators(n.hidden()),
        shared ? ", and in which ranks reduce their gradients" : "");
  }
  return fmt::format("buffers in which {} ranks reduce their gradients ({})", n.plan.mesh.world_size.value,
                     sharding_names.at(static_cast<std::size_t>(n.plan.mesh.sharding.value)));
}

std::string slack(const Numbers&) {
  return "what the caching allocator keeps in segments where nothing is alive, for the next request; it gives them "
         "back "
         "before it runs out";
}

std::string fragmentation(const Numbers&) {
  return "free memory between what is alive: it can serve a request that is small enough, and cannot be given back";
}

std::string paged(const Numbers& n) {
  return fmt::format(
      "what {} keeps for each trained parameter of 100,000 elements and more from step to step, in CUDA's managed "
      "memory, which the driver moves to host RAM where the card has no room: {} parameters × {} B on average",
      n.plan.optimizer.name.value, with_separators(n.footprint.trainable_parameters),
      n.each(n.footprint.trainable_parameters));
}

std::string runtime(const Numbers&) {
  return "beside PyTorch's tensors: the CUDA context with its kernels, and cuBLAS's workspaces, by kind of GPU";
}

constexpr std::array<std::string (*)(const Numbers&), bucket_count> formulas{
    weights, optimizer, gradients,     activations, attention_scores, logits_and_loss, autocast_copies, temporaries,
    inputs,  gathered,  communication, slack,       fragmentation,    paged,           runtime};

}  // namespace

std::string formula_text(const Report& report, Bucket bucket, Bytes size) {
  const Findings& found = report.found;
  if (!found.plan || !found.architecture || !found.footprint) return {};
  const Numbers numbers{*found.plan, *found.architecture, *found.footprint, size};
  return formulas.at(static_cast<std::size_t>(bucket))(numbers);
}

}  // namespace oomplan::report
