// Rows of the table of facts: what is trained, on what, and how; step_rows.hpp has what computes it.
#pragma once

#include <array>

#include "fact_row.hpp"
#include "matters.hpp"
#include "oomplan/plan/lengths.hpp"

namespace oomplan::planning {

using enum Bucket;

inline constexpr Influences weakest_of_all = [] {
  Influences out{};
  for (std::size_t i = 0; i < bucket_count; ++i) out[i] = {static_cast<Bucket>(i), 9};
  return out;
}();
inline constexpr Influences of_sizes(int in_scores, int in_slack) {
  return {{{activations, in_scores},
           {attention_scores, in_scores + 1},
           {logits_and_loss, in_scores},
           {temporaries, in_scores},
           {inputs, in_scores},
           {slack, in_slack},
           {fragmentation, in_slack}}};
}

inline constexpr std::array run_rows{
    fact<&Plan::recipe, &RecipeFacts::trainer, as::trainer>(
        "trainer", {"whose training loop the facts describe ([dialects.md](dialects.md)); one that is not estimated "
                    "gives no estimate"}),
    fact<&Plan::model, &ModelFacts::name, as::text>(
        "model", {"a hub id, a model directory, or the path of a `config.json`", weakest_of_all}),
    fact<&Plan::batch, &BatchFacts::micro_batch_size, as::positive>(
        "micro_batch_size", {"rows in one forward pass on one GPU", of_sizes(2, 3)}),
    fact<&Plan::batch, &BatchFacts::sequence_length, as::positive>(
        "sequence_length", {"tokens in a row after padding: the longest batch of the run", of_sizes(1, 2)}),
    fact<&Plan::model, &ModelFacts::head, as::head>(
        "head", {"what the model is trained for: to predict tokens, or as transformers' "
                 "`…ForSequenceClassification`, `…ForTokenClassification`, `…ForImageClassification`, "
                 "`…ForQuestionAnswering` or `…ForMultipleChoice`",
                 {},
                 classifies}),
    fact<&Plan::model, &ModelFacts::labels, as::count>(
        "labels", {"of a classifier: how many labels there are; 0: as `num_labels` or `id2label` of the config says",
                   {},
                   classifies}),
    fact<&Plan::model, &ModelFacts::choices, as::count>(
        "choices", {"of multiple choice: the texts in each row, of which the model is to choose one", {}, chooses}),
    fact<&Plan::model, &ModelFacts::vocabulary, as::count>(
        "vocabulary",
        {"rows that embedding and head are enlarged to once they are loaded (`resize_token_embeddings`); 0: they stay "
         "as the checkpoint has them",
         {},
         is_enlarged}),
    fact<&Plan::model, &ModelFacts::mean_resizing, as::boolean>(
        "mean_resizing", {"of `vocabulary`: new rows are drawn around the mean of the old ones, for which these are "
                          "copied to fp32 twice",
                          {},
                          is_enlarged}),
    fact<&Plan::batch, &BatchFacts::target_length, as::count>(
        "target_length",
        {"of an encoder-decoder: tokens in a row of labels after padding; 0: `sequence_length`", {}, has_targets}),
    fact<&Plan::batch, &BatchFacts::gradient_accumulation_steps, as::positive>(
        "gradient_accumulation_steps", {"forward and backward passes before an optimizer step"}),
    fact<&Plan::batch, &BatchFacts::padding_mask, as::boolean>("padding_mask",
                                                               {"rows differ in length, so attention gets a mask"}),
    fact<&Plan::images, &ImageFacts::count, as::images>(
        "images", {"images in each row, of a model that sees them; `unknown` gives no estimate of such a model",
                   {{{activations, 3}, {inputs, 3}}},
                   has_images}),
    fact<&Plan::images, &ImageFacts::height, as::count>(
        "image_height", {"their height in pixels, the pictures' own or what the model's processor makes of it; 0 where "
                         "the model takes one size only",
                         {},
                         has_images}),
    fact<&Plan::images, &ImageFacts::width, as::count>("image_width", {"their width", {}, has_images}),
    fact<&Plan::images, &ImageFacts::tiles, as::count>(
        "image_tiles", {"the pictures that the processor makes of one image, that of the whole among them; 0: as it "
                        "makes them of its size",
                        {},
                        has_images}),
    fact<&Plan::images, &ImageFacts::dtype, as::mixed_dtype>(
        "image_dtype", {"what pixels come in; `as_held`: the model's dtype", {}, has_images}),
    fact<&Plan::images, &ImageFacts::clips, as::images>("clips",
                                                        {"sounds in each row, of a model that hears them, each padded "
                                                         "to as many seconds as its processor makes of all; "
                                                         "`unknown` gives no estimate of such a model",
                                                         {{{activations, 3}, {inputs, 3}}},
                                                         has_clips}),
    fact<&Plan::images, &ImageFacts::clip_milliseconds, as::count>(
        "clip_milliseconds", {"how long each sound is, of a model whose processor does not make all as long; 0: nobody "
                              "said",
                              {},
                              has_clips}),
    fact<&Plan::images, &ImageFacts::token_types, as::boolean>(
        "image_token_types",
        {"rows without images come from the model's processor too, which says of each token whether it is an image's",
         {},
         [](const Plan& plan) { return plan.images.token_types.value && !has_images(plan); }}),
    fact<&Plan::recipe, &RecipeFacts::frozen, as::names>(
        "frozen_parameters", {"parts of parameters' names: such a parameter is not trained (`vision_tower`)",
                              {{{gradients, 6}, {optimizer, 6}}},
                              [](const Plan& plan) { return !plan.recipe.frozen.value.empty(); }}),
    fact<&Plan::batch, &BatchFacts::mask_sent, as::boolean>(
        "attention_mask_sent", {"a batch has an `attention_mask`, as collators make it; of ones alone it matters to "
                                "Mamba, which does not look at it, and to losses of real tokens alone (Gemma 3's)",
                                {},
                                [](const Plan& plan) { return !plan.batch.mask_sent.value; }}),
    fact<&Plan::precision, &PrecisionFacts::weights_dtype, as::weights_dtype>(
        "weights_dtype", {"what the weights are loaded in; `checkpoint` is what the model's config.json names",
                          {{{weights, 3}, {optimizer, 3}, {gradients, 2}, {autocast_copies, 2}}}}),
    fact<&Plan::precision, &PrecisionFacts::fp32_norms, as::boolean>(
        "fp32_norms", {"norms, embeddings and head are held in fp32 beside other weights of `weights_dtype`"}),
    fact<&Plan::precision, &PrecisionFacts::fp32_while_loading, as::boolean>(
        "fp32_while_loading", {"norms, embeddings and head go to fp32 and back while loading, and the cache is emptied "
                               "after: Axolotl's loader; beside `kbit_upcast` embeddings and head go back to bf16, and "
                               "norms stay: older TRL"}),
    fact<&Plan::precision, &PrecisionFacts::trained_to_fp32, as::boolean>(
        "trained_to_fp32", {"what is trained goes to fp32, weight after weight, once all is loaded: LLaMA-Factory",
                            {},
                            [](const Plan& plan) { return plan.precision.trained_to_fp32.value; }}),
    fact<&Plan::precision, &PrecisionFacts::autocast, as::autocast>(
        "autocast", {"mixed precision around the forward pass", {{{autocast_copies, 1}}}}),
    fact<&Plan::precision, &PrecisionFacts::backward_in_autocast, as::boolean>(
        "backward_in_autocast", {"a loop of one's own calls `backward()` before it leaves autocast, whose copies of "
                                 "weights live until then",
                                 {},
                                 [](const Plan& plan) { return plan.precision.backward_in_autocast.value; }}),
    fact<&Plan::adapter, &AdapterFacts::kind, as::adapter>(
        "adapter", {"what is trained: all weights, or an adapter of peft's on frozen ones",
                    {{{weights, 2}, {optimizer, 2}, {gradients, 1}, {paged, 2}}}}),
    fact<&Plan::batch, &BatchFacts::lengths, as::lengths>(
        "lengths",
        {"how long the rows of each step are, where they vary: one step is played for each, so that the allocator's "
         "pool settles as it would. `distribution` is `uniform` (without trend, the same every time), `ascending` or "
         "`descending`; `steps` is 32 where not given. A file holds a list, or numbers with space between them (one a "
         "line). None may be above `sequence_length`",
         {},
         varies}),
    fact<&Plan::batch, &BatchFacts::max_steps, as::count>(
        "max_steps",
        {"optimizer steps after which the run ends; 0: as many as it takes. Of one step, gradients and the optimizer's "
         "state never meet a second batch's activations. More than that change nothing",
         {},
         ends_early}),
    fact<&Plan::recipe, &RecipeFacts::kind, as::recipe>(
        "recipe",
        {"what the run does: language modelling; or one of TRL's trainers of preferences: `dpo`, "
         "`reference_free` (ORPO, CPO) and `reward`, whose rows are pairs of a chosen and a rejected one, or "
         "`kto`; or `grpo`, whose completions come from elsewhere; or its `distillation` from a teacher (GKD); or "
         "LLaMA-Factory's trainers of pairs (DPO, ORPO, SimPO: `paired_logits`), of rows (KTO: "
         "`unpaired_logits`) and of rewards (`reward_values`); or torchtune's DPO (`raised_pairs`); or "
         "sentence-transformers' trainer (`sentence_embedding`)",
         {},
         is_preference}),
    fact<&Plan::recipe, &RecipeFacts::columns, as::positive>(
        "columns", {"of `sentence_embedding`: the columns of text in a row (an anchor, a positive and a negative: 3)",
                    of_sizes(3, 4), embeds}),
    fact<&Plan::batch, &BatchFacts::anchor_length, as::count>(
        "anchor_length", {"of `sentence_embedding`: tokens of the first column's longest text, where that is shorter "
                          "than `sequence_length`, which the others have; 0: it is as long",
                          {},
                          embeds}),
    fact<&Plan::recipe, &RecipeFacts::cached_rows, as::positive>(
        "cached_rows", {"of the loss `cached_multiple_negatives`: the texts that are embedded at once, its "
                        "`mini_batch_size`",
                        {{{activations, 3}}},
                        [](const Plan& plan) { return plan.recipe.loss.value == Loss::cached_multiple_negatives; }}),
    fact<&Plan::recipe, &RecipeFacts::pooling, as::pooling>(
        "pooling", {"of `sentence_embedding`: what makes one embedding of the tokens'", {}, embeds}),
    fact<&Plan::recipe, &RecipeFacts::normalized, as::boolean>(
        "normalized", {"of `sentence_embedding`: the model ends with a module `Normalize`", {}, embeds}),
    fact<&Plan::recipe, &RecipeFacts::dense_width, as::count>(
        "dense_width",
        {"of `sentence_embedding`: the width of a module `Dense` after the pooling; 0: there is none", {}, embeds}),
    fact<&Plan::recipe, &RecipeFacts::reference, as::reference>(
        "reference", {"what a policy is compared with: itself without its adapter, a second model, or scores from "
                      "before the first step",
                      {},
                      has_reference}),
    fact<&Plan::recipe, &RecipeFacts::reference_rows, as::count>(
        "reference_rows", {"rows (of `dpo`: pairs) in a batch of precomputed scores; 0: `micro_batch_size`",
                           {},
                           [](const Plan& plan) { return has_scores(plan) && plan.recipe.reference_rows.value > 0; }}),
    fact<&Plan::recipe, &RecipeFacts::second_term, as::boolean>(
        "second_term",
        {"of `reference_free`: the loss has the cross entropy of the chosen rows too (CPO: `cpo_alpha` is not 0); of "
         "`kto`: it has a KL divergence, for which the model scores other rows (not with `apo_zero_unpaired`); of "
         "`grpo`: the model scores a rollout before its steps",
         {},
         has_second_term}),
    fact<&Plan::recipe, &RecipeFacts::rollout_batches, as::count>(
        "rollout_batches",
        {"of `grpo`: the micro-batches that a rollout is split into; 0: `gradient_accumulation_steps`",
         {},
         has_rollouts}),
    fact<&Plan::recipe, &RecipeFacts::rollout_iterations, as::positive>(
        "rollout_iterations", {"of `grpo`: how often each rollout is trained on", {}, has_rollouts}),
    fact<&Plan::recipe, &RecipeFacts::generation, as::generation>(
        "generation", {"of `grpo`: what writes the completions: another process (`elsewhere`: a vLLM server), "
                       "transformers' `generate()` on the GPU that trains, or vLLM on it (`vllm`)",
                       {},
                       has_rollouts}),
    fact<&Plan::recipe, &RecipeFacts::vllm_share, as::fraction>(
        "vllm_share", {"the part of a GPU that vLLM beside the run may take (its `gpu_memory_utilization`)",
                       {{{runtime, 1}}},
                       has_vllm}),
    fact<&Plan::recipe, &RecipeFacts::vllm_sleeps, as::boolean>(
        "vllm_sleeps", {"vLLM lets go of its weights and its cache between rollouts", {}, has_vllm}),
    fact<&Plan::recipe, &RecipeFacts::sampling, as::sampling>(
        "sampling", {"by `generate()`: what is done to the scores of the next token before one is drawn: "
                     "`repetition_penalty`, `temperature`, `top_k`, `top_p`, `min_p`",
                     {},
                     generates}),
    fact<&Plan::batch, &BatchFacts::completion_length, as::count>(
        "completion_length",
        {"of `dpo`, `kto`, `grpo`, `distillation` and TRL's losses of labelled tokens: tokens of a row "
         "that are a completion, "
         "or have a label; 0: all but the first",
         {},
         has_completions}),
    fact<&Plan::batch, &BatchFacts::joined, as::count>(
        "joined_rows",
        {"under Unsloth's layers: rows that stand in one of `sequence_length` tokens, each with positions "
         "of its own; 0: none does",
         {},
         is_unsloth}),
    fact<&Plan::model, &ModelFacts::teacher, as::text_or_nothing>(
        "teacher", {"of `distillation`: the model that the student learns from, named as `model` is",
                    {{{weights, 4}, {logits_and_loss, 9}}},
                    distils}),
    fact<&Plan::model, &ModelFacts::teacher_dtype, as::weights_dtype>(
        "teacher_dtype", {"what its weights are loaded in; `checkpoint` is what its config.json names", {}, distils}),
    fact<&Plan::recipe, &RecipeFacts::divergence, as::divergence>(
        "divergence", {"what the student's loss is: the KL divergence from the teacher (`forward`: GKD's `beta: 0`), "
                       "from the student "
                       "(`reverse`: 1), or of both from their mixture (`mixed`)",
                       {},
                       distils}),
    fact<&Plan::adapter, &AdapterFacts::rank, as::positive>(
        "lora_rank",
        {"the rank of the adapter's matrices; of OFT, where `oft_block_size` is 0, how many blocks there are",
         {},
         adapts}),
    fact<&Plan::adapter, &AdapterFacts::targets, as::names>(
        "lora_targets",
        {"the modules that carry the adapter (`q_proj`); `all-linear` for every linear module but the head; "
         "`peft-default` for peft's own choice for the model",
         {},
         adapts}),
    fact<&Plan::adapter, &AdapterFacts::layers, as::numbers>(
        "lora_layers",
        {"the numbers of the layers that carry LoRA, from 0 on, as peft's `layers_to_transform`; none: all",
         {},
         [](const Plan& plan) { return !plan.adapter.layers.value.empty(); }}),
    fact<&Plan::adapter, &AdapterFacts::layers_pattern, as::names>(
        "lora_layers_pattern", {"the names of the lists of layers that those numbers are of (`layers`, `h`), as peft's "
                                "`layers_pattern`; none: "
                                "of any",
                                {},
                                [](const Plan& plan) { return !plan.adapter.layers_pattern.value.empty(); }}),
    fact<&Plan::adapter, &AdapterFacts::target_parameters, as::names>(
        "lora_target_parameters",
        {"parameters that carry LoRA by themselves (`experts.down_proj`), as peft's `target_parameters`",
         {},
         adapts_parameters}),
    fact<&Plan::adapter, &AdapterFacts::update, as::parameter_update>(
        "lora_parameter_update",
        {"how peft adds the update of such a parameter: `folded`, in one product (from 0.21 on); `summed`, made apart "
         "(0.19); `unknown`, not estimated",
         {},
         adapts_parameters}),
    fact<&Plan::adapter, &AdapterFacts::dora, as::boolean>(
        "dora", {"LoRA with a trained magnitude for each row of a weight (DoRA)",
                 {{{activations, 5}}},
                 [](const Plan& plan) { return adapts(plan) && plan.adapter.dora.value; }}),
    fact<&Plan::adapter, &AdapterFacts::init, as::adapter_init>(
        "lora_init",
        {"what LoRA's first values are made of: no weight (`plain`), or a decomposition of each base weight "
         "(`pissa_niter`: PiSSA's randomised SVD; `olora`)",
         {},
         [](const Plan& plan) { return adapts(plan) && plan.adapter.init.value != AdapterInit::plain; }}),
    fact<&Plan::adapter, &AdapterFacts::feedforward, as::names>(
        "ia3_feedforward", {"of IA³'s targets, those whose input is scaled in place of their output, as peft's "
                            "`feedforward_modules`",
                            {},
                            [](const Plan& plan) { return plan.adapter.kind.value == Adapter::ia3; }}),
    fact<&Plan::adapter, &AdapterFacts::block, as::count>(
        "oft_block_size", {"the width of OFT's blocks; 0: `lora_rank` says how many blocks there are",
                           {},
                           [](const Plan& plan) { return plan.adapter.kind.value == Adapter::oft; }}),
    fact<&Plan::adapter, &AdapterFacts::modules_to_save, as::names>(
        "modules_to_save",
        {"the embedding, the head, or both (`lm_head`): trained whole beside the adapter, as copies",
         {{{weights, 5}, {gradients, 5}, {optimizer, 5}}},
         [](const Plan& plan) { return adapts(plan) && !plan.adapter.modules_to_save.value.empty(); }}),
    fact<&Plan::adapter, &AdapterFacts::dropout, as::fraction>(
        "lora_dropout", {"dropout on what the adapter's matrices are given", {}, adapts}),
    fact<&Plan::adapter, &AdapterFacts::dtype, as::adapter_dtype>(
        "adapter_dtype", {"what the adapter's own weights are held in", {}, adapts}),
    fact<&Plan::adapter, &AdapterFacts::input_grads, as::boolean>(
        "adapter_input_gradients",
        {"the embeddings' output is asked for a gradient beside the adapter also without checkpointing",
         {},
         [](const Plan& plan) { return adapts(plan) && plan.adapter.input_grads.value; }}),
    fact<&Plan::kernels, &KernelFacts::lora_qkv, as::boolean>(
        "lora_qkv_kernel", {"Axolotl's fused LoRA function for q, k and v", {}, adapts}),
    fact<&Plan::kernels, &KernelFacts::lora_o, as::boolean>("lora_o_kernel",
                                                            {"the same for the attention's output", {}, adapts}),
    fact<&Plan::kernels, &KernelFacts::lora_mlp, as::boolean>("lora_mlp_kernel",
                                                              {"the same for gate, up and down", {}, adapts}),
    fact<&Plan::quantization, &QuantizationFacts::kind, as::quantization>(
        "quantization",
        {"how frozen linear weights are stored: bitsandbytes' 4-bit types, or its LLM.int8()", {{{weights, 1}}}}),
    fact<&Plan::quantization, &QuantizationFacts::double_quantization, as::boolean>(
        "double_quantization", {"the scales of 4-bit weights are quantized too", {}, in_4_bits}),
    fact<&Plan::quantization, &QuantizationFacts::experts, as::boolean>(
        "quantized_experts",
        {"the parameters that hold all experts of a layer are quantized too, as Axolotl loads them",
         {{{weights, 1}}},
         [](const Plan& plan) { return plan.quantization.experts.value; }}),
    fact<&Plan::quantization, &QuantizationFacts::dequantized, as::dequantized>(
        "dequantized",
        {"where weights that the checkpoint has in MXFP4 are made whole as they are loaded "
         "(`Mxfp4Config(dequantize=True)`, or a machine without the package kernels): on the GPU where the model is "
         "loaded to it (`device_map`), else on the host; `none`: they stay packed, and transformers trains none such",
         {},
         [](const Plan& plan) { return plan.quantization.dequantized.value != Dequantized::none; }}),
    fact<&Plan::quantization, &QuantizationFacts::storage, as::quant_storage>(
        "quantization_storage", {"what the bytes of 4-bit weights are called (`bnb_4bit_quant_storage`): FSDP shards "
                                 "what has a floating type, and leaves the rest whole on each rank",
                                 {},
                                 [](const Plan& plan) { return in_4_bits(plan) && is_fsdp(plan); }}),
    fact<&Plan::quantization, &QuantizationFacts::compute_dtype, as::float_dtype>(
        "quantization_compute_dtype", {"what 4-bit weights are computed in", {}, in_4_bits}),
    fact<&Plan::quantization, &QuantizationFacts::linear, as::quantized_linear>(
        "quantized_linear",
        {"what holds 4-bit weights: bitsandbytes' Linear4bit, another subclass of torch's Linear, "
         "which peft takes for any Linear, torchao's NF4Tensor within one, or Lightning's subclasses "
         "of Linear4bit",
         {},
         in_4_bits}),
    fact<&Plan::quantization, &QuantizationFacts::skipped, as::names>(
        "unquantized_modules",
        {"linear modules that are not quantized, as transformers' `llm_int8_skip_modules`: the start or the end of a "
         "module's name; none: the head alone",
         {},
         [](const Plan& plan) { return quantizes(plan) && !plan.quantization.skipped.value.empty(); }}),
    fact<&Plan::quantization, &QuantizationFacts::checkpoint, as::count>(
        "checkpoint_bytes",
        {"what the files of a checkpoint in 4 bits come to that keeps some of its layers in 16: what they have beyond "
         "all linear layers in 4 bits is held beside these; 0: no such checkpoint is taken",
         {{{weights, 1}}},
         [](const Plan& plan) { return in_4_bits(plan) && plan.quantization.checkpoint.value > 0; }}),
    fact<&Plan::quantization, &QuantizationFacts::kbit_upcast, as::boolean>(
        "kbit_upcast", {"peft's `prepare_model_for_kbit_training` was called: weights that are not quantized are fp32",
                        {},
                        quantizes}),
    fact<&Plan::quantization, &QuantizationFacts::fake_group, as::count>(
        "fake_quantization_group", {"quantization-aware training by torchao: linear layers round their inputs to 8 "
                                    "bits and their weights to 4, with "
                                    "a scale for so many elements of a weight; 0 where there is none",
                                    {},
                                    [](const Plan& plan) { return plan.quantization.fake_group.value > 0; }}),
    fact<&Plan::optimizer, &OptimizerFacts::name, as::text>(
        "optimizer",
        {"`adamw_fused`, `adamw_foreach`, `adamw_for_each`, `adamw_8bit`, `paged_adamw_8bit`, "
         "`paged_adamw_32bit`, `sgd`, `sgd_momentum`, `adafactor`, `lion_32bit`, `lion_8bit`, "
         "`paged_lion_32bit`, `paged_lion_8bit`, `muon`, `axolotl_muon`, `llamafactory_muon`, `adam_mini`, "
         "`torchao_adamw_8bit`, `torchao_adamw_4bit`: the files of `models/optimizers`",
         {{{Bucket::optimizer, 1}, {temporaries, 3}, {paged, 1}}}}),
    fact<&Plan::optimizer, &OptimizerFacts::clip_gradients, as::boolean>(
        "clip_gradients", {"the gradients' norm is clipped before the step"}),
    fact<&Plan::checkpointing, &CheckpointingFacts::on, as::boolean>(
        "gradient_checkpointing",
        {"each layer keeps its input only and is computed again in backward", {{{activations, 3}}}}),
    fact<&Plan::checkpointing, &CheckpointingFacts::reentrant, as::boolean>(
        "reentrant_checkpointing", {"`use_reentrant` of `torch.utils.checkpoint`", {}, checkpoints}),
    fact<&Plan::checkpointing, &CheckpointingFacts::wrapped, as::boolean>(
        "checkpoint_wrapper",
        {"blocks are checkpointed by torch's `checkpoint_wrapper`, which no model is told of: FSDP's own "
         "`activation_checkpointing`",
         {},
         [](const Plan& plan) { return checkpoints(plan) && plan.checkpointing.wrapped.value; }}),
    fact<&Plan::checkpointing, &CheckpointingFacts::every, as::positive>(
        "checkpoint_every", {"of so many layers one is checkpointed, and the others are not; 1: each layer is",
                             {{{activations, 3}}},
                             skips_layers}),
    fact<&Plan::checkpointing, &CheckpointingFacts::place, as::checkpoint_place>(
        "checkpoint_place", {"which of so many layers that is, counted from the first on", {}, skips_layers}),
    fact<&Plan::checkpointing, &CheckpointingFacts::keeps, as::checkpoint_keeps>(
        "checkpoint_keeps", {"what a checkpointed layer keeps: its input, or beside it what attention kernels return "
                             "and every second matrix product, from the first on (torchtitan's selective `op`)",
                             {{{activations, 3}}},
                             [](const Plan& plan) {
                               return checkpoints(plan) && plan.checkpointing.keeps.value != CheckpointKeeps::inputs;
                             }}),
    fact<&Plan::checkpointing, &CheckpointingFacts::early_stop, as::boolean>(
        "checkpoint_early_stop",
        {"computing a layer again ends with the last tensor that backward needs of it",
         {},
         [](const Plan& plan) { return checkpoints(plan) && !plan.checkpointing.early_stop.value; }}),
    fact<&Plan::checkpointing, &CheckpointingFacts::offload, as::offload>(
        "activation_offload", {"what backward needs waits on the host: `streamed`, by TRL's `OffloadActivations`; "
                               "`streamed_clones`, which clones "
                               "what is not contiguous first; `synchronous`, without a stream beside; `buffered`, the "
                               "inputs of checkpoints alone, by Unsloth's with two buffers on the GPU",
                               {{{activations, 4}}},
                               [](const Plan& plan) { return plan.checkpointing.offload.value != Offload::none; }}),
};

}  // namespace oomplan::planning
