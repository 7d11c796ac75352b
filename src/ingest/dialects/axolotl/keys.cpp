#include "keys.hpp"

#include "../../python_values.hpp"

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
      const auto flag = read_pydantic_boolean(node);
      return flag ? std::optional(*flag ? Bf16::on : Bf16::off) : std::nullopt;
    },
    [](const Bf16& value) {
      return std::string(value == Bf16::automatic ? "auto" : value == Bf16::on ? "true" : "false");
    }};

constexpr Codec<std::int64_t> count_or_null{as::positive.expected,
                                            [](const Node& node) {
                                              return node.kind == Node::Kind::null ? std::optional(std::int64_t{0})
                                                                                   : read_pydantic_positive(node);
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
    key<&A::base_model, as::pydantic_text>("base_model"),
    key<&A::base_model_config, as::pydantic_text>("base_model_config"),
    key<&A::micro_batch_size, as::pydantic_positive>("micro_batch_size"),
    key<&A::gradient_accumulation_steps, count_or_null>("gradient_accumulation_steps"),
    other_key<&A::accumulation, as::positive>("accelerator_config.gradient_accumulation_kwargs.num_steps"),
    key<&A::batch_size, as::pydantic_positive>("batch_size"),
    key<&A::sequence_len, as::pydantic_positive>("sequence_len"),
    key<&A::pad_to_multiple_of, as::pydantic_positive>("pad_to_multiple_of"),
    key<&A::pad_to_sequence_len, as::pydantic_boolean>("pad_to_sequence_len"),
    key<&A::sample_packing, as::checked_boolean>("sample_packing"),
    key<&A::multipack_real_batches, as::pydantic_boolean>("multipack_real_batches"),
    key<&A::sdpa_varlen, as::pydantic_boolean>("sdpa_varlen"),
    key<&A::bf16, bf16>("bf16"),
    key<&A::fp16, as::pydantic_boolean>("fp16"),
    key<&A::bfloat16, as::pydantic_boolean>("bfloat16"),
    key<&A::float16, as::pydantic_boolean>("float16"),
    key<&A::adapter, as::pydantic_text>("adapter"),
    key<&A::load_in_4bit, as::checked_boolean>("load_in_4bit"),
    key<&A::embeddings_skip_upcast, as::pydantic_boolean>("embeddings_skip_upcast"),
    key<&A::lora_r, as::pydantic_positive>("lora_r"),
    key<&A::lora_dropout, as::pydantic_fraction>("lora_dropout"),
    key<&A::lora_target_modules, as::names>("lora_target_modules"),
    key<&A::lora_target_linear, as::pydantic_boolean>("lora_target_linear"),
    key<&A::peft_autocast_adapter_dtype, as::pydantic_boolean>("peft_autocast_adapter_dtype"),
    key<&A::lora_mlp_kernel, as::checked_boolean>("lora_mlp_kernel"),
    key<&A::lora_qkv_kernel, as::checked_boolean>("lora_qkv_kernel"),
    key<&A::lora_o_kernel, as::checked_boolean>("lora_o_kernel"),
    key<&A::lora_embedding_kernel, as::checked_boolean>("lora_embedding_kernel"),
    key<&A::quant_type, quant_type>("bnb_config_kwargs.bnb_4bit_quant_type"),
    key<&A::double_quant, as::plain_boolean>("bnb_config_kwargs.bnb_4bit_use_double_quant"),
    key<&A::compute_dtype, as::float_dtype>("bnb_config_kwargs.bnb_4bit_compute_dtype"),
    key<&A::trust_remote_code, as::checked_boolean>("trust_remote_code"),
    key<&A::optimizer, as::pydantic_text>("optimizer"),
    other_key<&A::embedding_lr, as::pydantic_number>("embedding_lr"),
    other_key<&A::embedding_lr_scale, as::pydantic_number>("embedding_lr_scale"),
    other_key<&A::lr_groups, given>("lr_groups"),
    key<&A::max_grad_norm, as::pydantic_number>("max_grad_norm"),
    key<&A::gradient_checkpointing, as::pydantic_boolean>("gradient_checkpointing"),
    key<&A::use_reentrant, as::plain_boolean>("gradient_checkpointing_kwargs.use_reentrant"),
    key<&A::attn_implementation, as::attention>("attn_implementation"),
    key<&A::flash_attention, as::checked_boolean>("flash_attention"),
    key<&A::sdp_attention, as::checked_boolean>("sdp_attention"),
    key<&A::eager_attention, as::checked_boolean>("eager_attention"),
    key<&A::cut_cross_entropy, as::checked_boolean>("cut_cross_entropy"),
    key<&A::plugins, as::names>("plugins"),
    loader<&K::workers, as::pydantic_count>("dataloader_num_workers"),
    loader<&K::prefetch, as::pydantic_positive>("dataloader_prefetch_factor"),
    loader<&K::pin_memory, as::pydantic_boolean>("dataloader_pin_memory"),
    loader<&K::streaming, as::checked_boolean>("streaming"),
    loader<&K::shuffle_buffer, as::pydantic_positive>("streaming_multipack_buffer_size"),
    loader<&K::map_processes, as::pydantic_count>("dataset_num_proc"),
    old_loader_key<&K::map_processes, as::pydantic_count>("dataset_processes"),
};

}  // namespace

Table<Axolotl> table() { return {rows, features(), &axolotl_keys()}; }

}  // namespace oomplan::ingestion::axolotl
