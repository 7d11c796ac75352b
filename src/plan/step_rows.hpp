// Rows of the table of facts: what computes a step, its loss, evaluation and saving.
#pragma once

#include <array>

#include "fact_row.hpp"
#include "matters.hpp"

namespace oomplan::planning {

using enum Bucket;

inline constexpr std::array step_rows{
    fact<&Plan::kernels, &KernelFacts::attention, as::attention>(
        "attention",
        {"the attention implementation as transformers names it", {{{activations, 4}, {attention_scores, 1}}}}),
    fact<&Plan::kernels, &KernelFacts::experts, as::experts>(
        "experts_implementation",
        {"how a mixture of experts runs them, as transformers names it",
         {{{activations, 7}, {temporaries, 7}}},
         [](const Plan& plan) { return plan.kernels.experts.value != ExpertsImplementation::grouped_mm; }}),
    fact<&Plan::kernels, &KernelFacts::routing, as::routing>(
        "expert_routing",
        {"which tokens an expert gets: `balanced`, as many as any other; `any`, counted at the most",
         {},
         [](const Plan& plan) { return plan.kernels.experts.value == ExpertsImplementation::eager; }}),
    fact<&Plan::kernels, &KernelFacts::older_gpu, as::boolean>(
        "older_gpu", {"the GPU is of a compute capability below 8.0 (T4, V100, P100), where "
                      "scaled_dot_product_attention has no flash kernel "
                      "and no memory-efficient one in bf16; `--gpu` says so",
                      {{{attention_scores, 3}}},
                      [](const Plan& plan) { return plan.kernels.older_gpu.value; }}),
    fact<&Plan::kernels, &KernelFacts::scan_packages, as::boolean>(
        "scan_packages",
        {"mamba-ssm, causal-conv1d or flash-linear-attention is installed, whose kernels transformers takes for "
         "state-space and linear-attention layers in place of its own code; of gated delta rules by transformers 5.14, "
         "flash-linear-attention alone is",
         {},
         [](const Plan& plan) { return plan.kernels.scan_packages.value; }}),
    fact<&Plan::recipe, &RecipeFacts::loss, as::loss>(
        "loss",
        {"cross entropy over the whole logits, TRL's fused head, "
         "Liger's fused linear cross entropy (of liger-kernel 0.8.5 "
         "or 0.8.0), Axolotl's cut cross entropy, or, "
         "over the whole logits, LLaMA-Factory's DFT or EAFT "
         "(`entropy_aware`), Axolotl's EAFT (`masked_entropy_aware`), or torchtune's losses in chunks, over "
         "logits that are all there (`chunked_output`) or of one chunk "
         "after the other (`linear_cross_entropy`), or litgpt's, of the head's products of 128 positions "
         "(`chunked_head`) or of 128 rows of the logits (`chunked_rows`), or Unsloth's (`unsloth_fused`), or "
         "torchtitan's "
         "over the whole logits, by labels that come shifted (`summed_logits`), or of LLaMA-Factory's second trainer, "
         "beside the one that the model makes (`weighted_logprob`), or that of TRL's chunks of labelled tokens "
         "(`chunked_nll`; `raised_chunked_nll` before 1.13)",
         {{{logits_and_loss, 3}}}}),
    fact<&Plan::recipe, &RecipeFacts::loss_part, as::count>(
        "loss_part",
        {"of `unsloth_fused`: bytes of fp32 logits that a part of it has at most; Unsloth takes half of what "
         "is free on the GPU before the first loss, and 4 GiB at most",
         {},
         is_unsloth}),
    fact<&Plan::recipe, &RecipeFacts::outputs_kept, as::boolean>(
        "outputs_kept",
        {"the model's output object, with the logits, lives through backward; of `dpo` over whole logits, it has "
         "every layer's hidden states too, and lives until its rows are scored"}),
    fact<&Plan::precision, &PrecisionFacts::outputs_to_fp32, as::boolean>("outputs_to_fp32",
                                                                          {"accelerate's fp32 copy of the outputs"}),
    fact<&Plan::optimizer, &OptimizerFacts::fp32_embedding_state, as::boolean>(
        "fp32_embedding_state", {"an 8-bit optimizer keeps the state of embeddings in fp32, as transformers' Trainer "
                                 "asks of bitsandbytes"}),
    fact<&Plan::optimizer, &OptimizerFacts::set_grads_to_none, as::boolean>(
        "set_grads_to_none", {"`zero_grad(set_to_none=True)`: gradients are freed between steps"}),
    fact<&Plan::optimizer, &OptimizerFacts::in_backward, as::boolean>(
        "optimizer_in_backward",
        {"each parameter has an optimizer of its own, which steps and frees the gradient as soon as backward has it "
         "(torchtune's `optimizer_in_bwd`)",
         {{{gradients, 3}}},
         [](const Plan& plan) { return plan.optimizer.in_backward.value; }}),
    fact<&Plan::recipe, &RecipeFacts::trained, as::names>(
        "trained_parameters", {"regular expressions (Python's) of the parameters that are trained, from their names' "
                               "beginning; empty: all that "
                               "the method trains",
                               {},
                               [](const Plan& plan) { return !plan.recipe.trained.value.empty(); }}),
    fact<&Plan::recipe, &RecipeFacts::trained_layers, as::integer>(
        "trained_layers", {"the last so many layers are trained, or where it is negative the first, and they alone are "
                           "checkpointed (LLaMA-Factory's freeze tuning); 0: it is another method",
                           {{{gradients, 4}, {optimizer, 4}}},
                           [](const Plan& plan) { return plan.recipe.trained_layers.value != 0; }}),
    fact<&Plan::recipe, &RecipeFacts::layer_parts, as::names>(
        "layer_parts", {"of such a layer, the modules that are trained; empty: all",
                        {},
                        [](const Plan& plan) { return plan.recipe.trained_layers.value != 0; }}),
    fact<&Plan::recipe, &RecipeFacts::use_cache, as::boolean>("use_cache",
                                                              {"the forward pass fills a key-value cache"}),
    fact<&Plan::recipe, &RecipeFacts::cache_kind, as::cache_kind>(
        "cache_kind",
        {"what such a cache holds: copies of the layers' keys and values, or these themselves (transformers before "
         "4.56), which before 4.48 are part of the output and with it raised to fp32 (`returned`)",
         {},
         [](const Plan& plan) { return plan.recipe.cache_kind.value != CacheKind::copies; }}),
    fact<&Plan::recipe, &RecipeFacts::logit_shift, as::logit_shift>(
        "logit_shift",
        {"what of the loss over the whole logits is moved by a token: the labels, which are padded, or a copy of the "
         "logits without the last token's (transformers before 4.49); that of an fp32 copy, which may take the logits' "
         "place (`replaced_logits`), or is what the model makes of them in any case (`raised_logits`, before 4.46)",
         {},
         [](const Plan& plan) { return plan.recipe.logit_shift.value != LogitShift::labels; }}),
    fact<&Plan::recipe, &RecipeFacts::pair_scores, as::pair_scores>(
        "pair_scores",
        {"how DPO scores pairs by all their logits: row after row, all at once (TRL before 0.15), or so without the "
         "last token's (before 0.14), beside which there is a cross entropy of the chosen rows (`held`, before 0.12)",
         {},
         [](const Plan& plan) { return plan.recipe.pair_scores.value != PairScores::by_row; }}),
    fact<&Plan::recipe, &RecipeFacts::token_metrics, as::token_metrics>(
        "token_metrics",
        {"what the trainer measures of the logits beside the loss, as TRL's SFTTrainer did before 1.7: "
         "the accuracy, and the entropy of tokens",
         {},
         is_supervised}),
    fact<&Plan::recipe, &RecipeFacts::label_smoothing, as::boolean>(
        "label_smoothing", {"the trainer makes the loss itself, of the full logits and smoothed labels (transformers' "
                            "LabelSmoother)",
                            {},
                            is_supervised}),
    fact<&Plan::recipe, &RecipeFacts::router_loss, as::boolean>(
        "router_loss", {"the load-balancing loss of a mixture's routers is added, as TRL's trainers do by themselves",
                        {},
                        [](const Plan& plan) { return plan.recipe.router_loss.value; }}),
    fact<&Plan::recipe, &RecipeFacts::neftune, as::boolean>(
        "neftune", {"noise is added to the output of the embedding of tokens in training (`neftune_noise_alpha`)",
                    {},
                    [](const Plan& plan) { return plan.recipe.neftune.value; }}),
    fact<&Plan::runtime, &RuntimeFacts::alloc_conf, as::text_or_nothing>(
        "alloc_conf", {"how PyTorch's caching allocator is set, as `PYTORCH_ALLOC_CONF` (`expandable_segments:True`); "
                       "empty: torch's defaults",
                       {{{slack, 1}, {fragmentation, 1}}}}),
    fact<&Plan::kernels, &KernelFacts::liger_rms_norm, as::boolean>(
        "liger_rms_norm", {"Liger's RMSNorm, where it has one for the model", {}, has_liger}),
    fact<&Plan::kernels, &KernelFacts::liger_rope, as::boolean>("liger_rope",
                                                                {"Liger's rotary embedding", {}, has_liger}),
    fact<&Plan::kernels, &KernelFacts::liger_glu, as::boolean>("liger_glu", {"Liger's SwiGLU", {}, has_liger}),
    fact<&Plan::kernels, &KernelFacts::liger_layer_norm, as::boolean>(
        "liger_layer_norm", {"Liger's LayerNorm, where it has one for the model", {}, has_liger}),
    fact<&Plan::kernels, &KernelFacts::fused_norm_rope, as::boolean>(
        "fused_norm_rope", {"Axolotl's kernel norms and turns queries and keys, where it has one for the model",
                            {},
                            [](const Plan& plan) { return plan.kernels.fused_norm_rope.value; }}),
    fact<&Plan::kernels, &KernelFacts::patched_log_softmax, as::boolean>(
        "patched_log_softmax", {"tokens are scored by Axolotl's kernel, not by TRL's or, of `dpo` and `kto`, by torch "
                                "row after row",
                                {},
                                scores_logits}),
    fact<&Plan::kernels, &KernelFacts::unsloth, as::unsloth_layers>(
        "unsloth_layers", {"layers are Unsloth's functions (its LoRA, RMSNorm, rotary embedding), which attend by "
                           "xformers' flash operator",
                           {},
                           is_unsloth}),
    fact<&Plan::kernels, &KernelFacts::sdpa_keys, as::sdpa_keys>(
        "sdpa_keys", {"how sdpa gets keys and values that several heads share: grouped, where there is no mask, or "
                      "repeated for each "
                      "head, as transformers did before 4.54, and from 4.48 on always as copies (`copied`)",
                      {},
                      [](const Plan& plan) { return plan.kernels.sdpa_keys.value != SdpaKeys::grouped; }}),
    fact<&Plan::kernels, &KernelFacts::additive_mask, as::boolean>(
        "additive_mask", {"the mask of sdpa is one of numbers, in the embeddings' dtype, as transformers' was before "
                          "4.53",
                          {},
                          [](const Plan& plan) { return plan.kernels.additive_mask.value; }}),
    fact<&Plan::kernels, &KernelFacts::rotary_in_layers, as::boolean>(
        "rotary_in_layers", {"each layer makes the rotary embedding anew, in the dtype of its values, as those of some "
                             "models did before transformers 4.48",
                             {},
                             [](const Plan& plan) { return plan.kernels.rotary_in_layers.value; }}),
    fact<&Plan::evaluation, &EvaluationFacts::evaluates, as::boolean>(
        "evaluates", {"evaluation runs while the optimizer's state is there", {}, evaluates}),
    fact<&Plan::evaluation, &EvaluationFacts::rows, as::count>(
        "evaluation_rows", {"rows in a batch of evaluation; 0: `micro_batch_size`",
                            {},
                            [](const Plan& plan) { return evaluates(plan) && plan.evaluation.rows.value > 0; }}),
    fact<&Plan::evaluation, &EvaluationFacts::length, as::count>(
        "evaluation_length", {"tokens in such a row; 0: `sequence_length`",
                              {},
                              [](const Plan& plan) { return evaluates(plan) && plan.evaluation.length.value > 0; }}),
    fact<&Plan::evaluation, &EvaluationFacts::padded, as::boolean>(
        "evaluation_padded",
        {"these rows are padded, so that attention gets a mask, also where `padding_mask` is false", {}, evaluates}),
    fact<&Plan::saving, &SavingFacts::saves, as::boolean>(
        "saves", {"a checkpoint is written while the optimizer's state is there: each tensor is copied to the CPU, so "
                  "that the GPU holds nothing more",
                  {},
                  [](const Plan& plan) { return plan.saving.saves.value; }}),
};

}  // namespace oomplan::planning
