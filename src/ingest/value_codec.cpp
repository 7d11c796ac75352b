#include "value_codec.hpp"

#include <algorithm>
#include <array>

#include "inputs.hpp"
#include "optimizers.hpp"
#include "python_values.hpp"

namespace oomplan::ingestion {
namespace {

template <const auto& Format>
using TypeOf = typename decltype(Format.read(Node{}))::value_type;

template <const auto& Format>
constexpr ValueCodec codec(std::string_view name) {
  using T = TypeOf<Format>;
  return {name,
          Format.expected,
          {Format.names, Format.name_count},
          [](const Node& node) -> std::optional<FactValue> {
            auto value = Format.read(node);
            if (!value) return std::nullopt;
            return FactValue(static_cast<Held<T>>(*std::move(value)));
          },
          [](const FactValue& value) { return Format.write(static_cast<T>(std::get<Held<T>>(value))); }};
}

// ---- Numbers and names as people write them ------------------------------------------------------------------------

std::string write_float(const double& value) {
  const std::string text = write_number(value);
  return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
}

std::string write_names(const std::vector<std::string>& names) {
  return names.size() == 1 ? yaml_text(names.front()) : yaml_list(names);
}

constexpr Codec<double> number{as::number.expected, read_number, write_float};
constexpr Codec<double> fraction{as::fraction.expected, read_fraction, write_float};
constexpr Codec<double> pydantic_number{as::number.expected, read_pydantic_number, write_float};
constexpr Codec<double> pydantic_fraction{as::fraction.expected, read_pydantic_fraction, write_float};
constexpr Codec<std::vector<std::string>> name_list{as::names.expected, read_names, write_names};

// ---- Of transformers and TRL ---------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> torch_dtypes{"auto", "float32", "bfloat16", "float16"};
constexpr std::array<std::string_view, 3> quant_types{"", "nf4", "fp4"};
constexpr std::array<std::string_view, 5> strategies{"bfd", "bfd_split", "wrapped", "bfd-requeue", "ffd"};
constexpr auto torch_dtype = choice<WeightsDType, torch_dtypes>("one of auto, float32, bfloat16, float16");
constexpr std::array<std::string_view, 4> quant_storages{"uint8", "bfloat16", "float16", "float32"};
constexpr auto quant_storage = choice<QuantStorage, quant_storages>("one of uint8, bfloat16, float16, float32");
constexpr auto quant_type = choice<Quantization, quant_types>("nf4 or fp4");

template <const auto& Names>
std::optional<std::string> read_one_of(const Node& node) {
  const auto index = read_choice(node, Names.data(), Names.size());
  return index ? std::optional(std::string(Names.at(*index))) : std::nullopt;
}

// An enumeration of transformers' takes its words as they are written. A YAML `no` is here too: of a file it is no word
// but false (hf/refused.cpp).
template <const auto& Words>
std::optional<std::string> read_word(const Node& node) {
  const bool known = node.is_scalar() && std::ranges::count(Words, node.text) > 0;
  return known ? std::optional(node.text) : std::nullopt;
}

constexpr std::array<std::string_view, 3> evaluation_strategies{"no", "steps", "epoch"};
constexpr std::array<std::string_view, 4> save_strategies{"no", "steps", "epoch", "best"};
constexpr Codec<std::string> evaluation_strategy{"one of \"no\", steps, epoch", read_word<evaluation_strategies>,
                                                 write_text, evaluation_strategies.data(),
                                                 evaluation_strategies.size()};
constexpr Codec<std::string> save_strategy{"one of \"no\", steps, epoch, best", read_word<save_strategies>, write_text,
                                           save_strategies.data(), save_strategies.size()};

// from_pretrained(dtype=None) is "auto" (modeling_utils.py), so null says something here.
constexpr Codec<WeightsDType> load_dtype{
    torch_dtype.expected,
    [](const Node& node) {
      return node.kind == Node::Kind::null ? std::optional(WeightsDType::checkpoint) : torch_dtype.read(node);
    },
    torch_dtype.write, torch_dtypes.data(), torch_dtypes.size()};

// Environment variables, as TRL's scripts set them. torch reads the newer name first (c10/core/AllocatorConfig.cpp).
std::optional<std::string> read_alloc_conf(const Node& node) {
  if (!node.is_mapping()) return std::nullopt;
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    const Node* value = node.find(name);
    if (value != nullptr) return read_text_or_nothing(*value);
  }
  return std::string();
}

constexpr Codec<std::string> environment{
    "a mapping of environment variables to texts", read_alloc_conf,
    [](const std::string& conf) { return "{PYTORCH_ALLOC_CONF: " + yaml_text(conf) + "}"; }};

// No limit is 0: rows are then as long as the data.
constexpr Codec<std::int64_t> length_limit{
    "a positive integer",
    [](const Node& node) {
      return node.kind == Node::Kind::null ? std::optional(std::int64_t{0}) : read_positive(node);
    },
    [](const std::int64_t& value) { return value == 0 ? std::string("null") : write_integer(value); }};

// transformers takes what is not positive for none.
constexpr Codec<std::int64_t> step_limit{
    "an integer",
    [](const Node& node) {
      const auto steps = node.kind == Node::Kind::null ? std::optional(std::int64_t{0}) : as::integer.read(node);
      return steps ? std::optional(std::max(*steps, std::int64_t{0})) : steps;
    },
    [](const std::int64_t& value) { return value == 0 ? std::string("-1") : write_integer(value); }};

// "auto" pads on no GPU (SFTTrainer: only on Neuron).
constexpr Codec<std::int64_t> pad_multiple{
    "a positive integer or auto",
    [](const Node& node) { return node.text == "auto" ? std::optional(std::int64_t{1}) : read_positive(node); },
    write_integer};

// Of all versions of TRL; hf/refused.cpp knows which of them has which.
constexpr Codec<std::string> packing_strategy{
    "one of bfd, bfd_split, wrapped, before TRL 1.0 bfd-requeue (0.29) or ffd (0.19)", read_one_of<strategies>,
    write_text, strategies.data(), strategies.size()};

// ---- Of LLaMA-Factory ----------------------------------------------------------------------------------------------

// Names with commas between them, or a list.
std::optional<std::vector<std::string>> read_comma_names(const Node& node) {
  const auto whole = read_names(node);
  if (!whole || whole->size() != 1) return whole;
  std::vector<std::string> out;
  for (std::string_view rest = whole->front(); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    const auto first = name.find_first_not_of(' ');
    if (first != name.npos) out.emplace_back(name.substr(first, name.find_last_not_of(' ') - first + 1));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return out;
}

std::string write_comma_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return yaml_text(out);
}

constexpr Codec<std::vector<std::string>> comma_names{as::names.expected, read_comma_names, write_comma_names};

// ---- Of Axolotl ----------------------------------------------------------------------------------------------------

// The schema's default is auto, and a null that somebody wrote overrules it.
constexpr Codec<Choice> auto_boolean{
    "auto, true or false",
    [](const Node& node) -> std::optional<Choice> {
      if (node.kind == Node::Kind::null) return Choice::off;
      if (node.text == "auto") return Choice::automatic;
      const auto flag = read_pydantic_boolean(node);
      return flag ? std::optional(*flag ? Choice::on : Choice::off) : std::nullopt;
    },
    [](const Choice& value) {
      return std::string(value == Choice::automatic ? "auto" : value == Choice::on ? "true" : "false");
    }};

// The schema makes true of both words, and switches activation_offloading on.
constexpr Codec<bool> boolean_or_offload{"true, false, offload or offload_disk",
                                         [](const Node& node) {
                                           const bool moved = node.text == "offload" || node.text == "offload_disk";
                                           return moved ? std::optional(true) : read_pydantic_boolean(node);
                                         },
                                         write_boolean};

constexpr Codec<std::int64_t> positive_or_null{as::positive.expected,
                                               [](const Node& node) {
                                                 return node.kind == Node::Kind::null ? std::optional(std::int64_t{0})
                                                                                      : read_pydantic_positive(node);
                                               },
                                               write_integer};

// Only that it is there.
constexpr Codec<bool> given{"a value", [](const Node& node) { return std::optional(node.kind != Node::Kind::null); },
                            write_boolean};

// Rows of its own to evaluate on.
constexpr Codec<bool> asked{"a list of datasets", [](const Node& node) { return std::optional(is_set(node)); },
                            write_boolean};

// It becomes an enumeration of transformers', which takes these words; `no` is one on a command line alone, since YAML
// reads it as false.
constexpr Codec<std::string> quoted_strategy{"one of \"no\" (in quotes), steps, epoch",
                                             read_word<evaluation_strategies>, write_text, evaluation_strategies.data(),
                                             evaluation_strategies.size()};

// ---- Of DeepSpeed's JSON, in which 5e8 is an integer ----------------------------------------------------------------

constexpr Codec<std::int64_t> whole_count{as::count.expected,
                                          [](const Node& node) {
                                            const auto value = planning::read_elements(node);
                                            return value == by_hidden_size ? std::nullopt : value;
                                          },
                                          write_integer};

// ---- Of accelerate's launcher ---------------------------------------------------------------------------------------

constexpr auto distributed_types = std::to_array<std::string_view>(
    {"NO", "MULTI_GPU", "FSDP", "DEEPSPEED", "MEGATRON_LM", "XLA", "MULTI_CPU", "MULTI_HPU", "MULTI_MLU", "MULTI_MUSA",
     "MULTI_NEURON", "MULTI_NPU", "MULTI_SDAA", "MULTI_XPU"});
constexpr std::array<std::string_view, 4> mixed_precisions{"no", "fp16", "bf16", "fp8"};

// A NO without quotes is false in YAML, which launches one process as well.
constexpr Codec<std::string> distributed_type{"one of NO, MULTI_GPU, FSDP, DEEPSPEED, MEGATRON_LM, XLA, …",
                                              [](const Node& node) {
                                                if (node.as_boolean() == false) return std::optional<std::string>("NO");
                                                return read_word<distributed_types>(node);
                                              },
                                              write_text, distributed_types.data(), distributed_types.size()};
constexpr Codec<std::string> mixed_precision{
    "one of \"no\" (in quotes), fp16, bf16, fp8",
    [](const Node& node) { return node.kind == Node::Kind::string ? read_word<mixed_precisions>(node) : std::nullopt; },
    write_text};

// ---- By name -------------------------------------------------------------------------------------------------------

constexpr std::array codecs{
    codec<as::argparse_boolean>("argparse_boolean"),
    codec<asked>("asked"),
    codec<as::attention>("attention"),
    codec<as::experts>("experts"),
    codec<auto_boolean>("auto_boolean"),
    codec<as::checked_boolean>("checked_boolean"),
    codec<comma_names>("comma_names"),
    codec<as::count>("count"),
    codec<distributed_type>("distributed_type"),
    codec<as::elements>("elements"),
    codec<environment>("environment"),
    codec<evaluation_strategy>("evaluation_strategy"),
    codec<as::float_dtype>("float_dtype"),
    codec<fraction>("fraction"),
    codec<given>("given"),
    codec<as::integer>("integer"),
    codec<length_limit>("length_limit"),
    codec<load_dtype>("load_dtype"),
    codec<mixed_precision>("mixed_precision"),
    codec<name_list>("names"),
    codec<number>("number"),
    codec<as::numbers>("numbers"),
    codec<as::optimizer>("optimizer"),
    codec<packing_strategy>("packing_strategy"),
    codec<pad_multiple>("pad_multiple"),
    codec<as::plain_boolean>("plain_boolean"),
    codec<as::positive>("positive"),
    codec<positive_or_null>("positive_or_null"),
    codec<as::pydantic_boolean>("pydantic_boolean"),
    codec<boolean_or_offload>("boolean_or_offload"),
    codec<as::pydantic_count>("pydantic_count"),
    codec<pydantic_fraction>("pydantic_fraction"),
    codec<pydantic_number>("pydantic_number"),
    codec<as::pydantic_positive>("pydantic_positive"),
    codec<as::pydantic_text>("pydantic_text"),
    codec<quant_storage>("quant_storage"),
    codec<quant_type>("quant_type"),
    codec<quoted_strategy>("quoted_strategy"),
    codec<save_strategy>("save_strategy"),
    codec<step_limit>("step_limit"),
    codec<as::text>("text"),
    codec<as::trainer>("trainer"),
    codec<whole_count>("whole_count"),
    codec<as::worker_start>("worker_start"),
};

}  // namespace

const ValueCodec* find_codec(std::string_view name) {
  const auto* found = std::ranges::find(codecs, name, &ValueCodec::name);
  return found == codecs.end() ? nullptr : found;
}

}  // namespace oomplan::ingestion
