#include "keys.hpp"

#include "../../fields.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

constexpr std::array<std::string_view, 3> quant_types{"", "nf4", "fp4"};
constexpr auto quant_type = choice<Quantization, quant_types>("nf4 or fp4");

// The schema's default is auto, and a null that somebody wrote overrules it.
constexpr Codec<Bf16> bf16{
    "auto, true or false",
    [](const Node& node) -> std::optional<Bf16> {
      if (node.kind == Node::Kind::null) return Bf16::off;
      if (node.text == "auto") return Bf16::automatic;
      const auto flag = read_boolean(node);
      return flag ? std::optional(*flag ? Bf16::on : Bf16::off) : std::nullopt;
    },
    [](const Bf16& value) {
      return std::string(value == Bf16::automatic ? "auto" : value == Bf16::on ? "true" : "false");
    }};

constexpr Codec<std::int64_t> count_or_null{as::positive.expected,
                                            [](const Node& node) {
                                              return node.kind == Node::Kind::null ? std::optional(std::int64_t{0})
                                                                                   : read_positive(node);
                                            },
                                            write_integer};

// Only that it is there.
constexpr Codec<bool> given{"a value", [](const Node& node) { return std::optional(node.kind != Node::Kind::null); },
                            write_boolean};

template <auto Member, const auto& Format>
constexpr Row<Axolotl> key(std::string_view name) {
  return row<Axolotl, Member, Format>(name);
}

template <auto Member, const auto& Format>
constexpr Row<Axolotl> other_key(std::string_view name) {
  return alias<Axolotl, Member, Format>(name);
}

template <auto Member, const auto& Format>
constexpr Row<Axolotl> loader(std::string_view name) {
  return row<Axolotl, Member, Format, &Axolotl::loader>(name);
}

template <auto Member, const auto& Format>
constexpr Row<Axolotl> old_loader_key(std::string_view name) {
  return alias<Axolotl, Member, Format, &Axolotl::loader>(name);
}

using A = Axolotl;
using K = LoaderKeys;

constexpr std::array rows{
    key<&A::base_model, as::text>("base_model"),
    key<&A::base_model_config, as::text>("base_model_config"),
    key<&A::micro_batch_size, as::positive>("micro_batch_size"),
    key<&A::gradient_accumulation_steps, count_or_null>("gradient_accumulation_steps"),
    other_key<&A::accumulation, as::positive>("accelerator_config.gradient_accumulation_kwargs.num_steps"),
    key<&A::batch_size, as::positive>("batch_size"),
    key<&A::sequence_len, as::positive>("sequence_len"),
    key<&A::pad_to_multiple_of, as::positive>("pad_to_multiple_of"),
    key<&A::pad_to_sequence_len, as::boolean>("pad_to_sequence_len"),
    key<&A::sample_packing, as::boolean>("sample_packing"),
    key<&A::multipack_real_batches, as::boolean>("multipack_real_batches"),
    key<&A::sdpa_varlen, as::boolean>("sdpa_varlen"),
    key<&A::bf16, bf16>("bf16"),
    key<&A::fp16, as::boolean>("fp16"),
    key<&A::bfloat16, as::boolean>("bfloat16"),
    key<&A::float16, as::boolean>("float16"),
    key<&A::adapter, as::text>("adapter"),
    key<&A::load_in_4bit, as::boolean>("load_in_4bit"),
    key<&A::embeddings_skip_upcast, as::boolean>("embeddings_skip_upcast"),
    key<&A::lora_r, as::positive>("lora_r"),
    key<&A::lora_dropout, as::fraction>("lora_dropout"),
    key<&A::lora_target_modules, as::names>("lora_target_modules"),
    key<&A::lora_target_linear, as::boolean>("lora_target_linear"),
    key<&A::peft_autocast_adapter_dtype, as::boolean>("peft_autocast_adapter_dtype"),
    key<&A::lora_mlp_kernel, as::boolean>("lora_mlp_kernel"),
    key<&A::lora_qkv_kernel, as::boolean>("lora_qkv_kernel"),
    key<&A::lora_o_kernel, as::boolean>("lora_o_kernel"),
    key<&A::lora_embedding_kernel, as::boolean>("lora_embedding_kernel"),
    key<&A::quant_type, quant_type>("bnb_config_kwargs.bnb_4bit_quant_type"),
    key<&A::double_quant, as::boolean>("bnb_config_kwargs.bnb_4bit_use_double_quant"),
    key<&A::compute_dtype, as::float_dtype>("bnb_config_kwargs.bnb_4bit_compute_dtype"),
    key<&A::trust_remote_code, as::boolean>("trust_remote_code"),
    key<&A::optimizer, as::text>("optimizer"),
    other_key<&A::embedding_lr, as::number>("embedding_lr"),
    other_key<&A::embedding_lr_scale, as::number>("embedding_lr_scale"),
    other_key<&A::lr_groups, given>("lr_groups"),
    key<&A::max_grad_norm, as::number>("max_grad_norm"),
    key<&A::gradient_checkpointing, as::boolean>("gradient_checkpointing"),
    key<&A::use_reentrant, as::boolean>("gradient_checkpointing_kwargs.use_reentrant"),
    key<&A::attn_implementation, as::attention>("attn_implementation"),
    key<&A::flash_attention, as::boolean>("flash_attention"),
    key<&A::sdp_attention, as::boolean>("sdp_attention"),
    key<&A::eager_attention, as::boolean>("eager_attention"),
    key<&A::cut_cross_entropy, as::boolean>("cut_cross_entropy"),
    key<&A::plugins, as::names>("plugins"),
    loader<&K::workers, as::count>("dataloader_num_workers"),
    loader<&K::prefetch, as::positive>("dataloader_prefetch_factor"),
    loader<&K::pin_memory, as::boolean>("dataloader_pin_memory"),
    loader<&K::streaming, as::boolean>("streaming"),
    loader<&K::shuffle_buffer, as::positive>("streaming_multipack_buffer_size"),
    loader<&K::map_processes, as::count>("dataset_num_proc"),
    old_loader_key<&K::map_processes, as::count>("dataset_processes"),
};

}  // namespace

Table<Axolotl> table() { return {rows, features(), &axolotl_keys()}; }

}  // namespace oomplan::ingestion::axolotl
