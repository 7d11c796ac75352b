#include "dynamic.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "../../dialect.hpp"
#include "oomplan/core/embedded.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {

std::span<const EmbeddedFile> embedded_files();  // of src/ingest/dialects/

namespace unsloth {
namespace {

constexpr std::string_view item = "- ";
constexpr std::string_view says = ": ";

}  // namespace

std::optional<std::int64_t> chosen_checkpoint(std::string_view id) {
  const EmbeddedFile* names = find_embedded(embedded_files(), "unsloth/dynamic.yaml");
  if (names == nullptr) return std::nullopt;
  const std::string lower = lowered(id);
  std::string_view text = names->text;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(item)) continue;
    line.remove_prefix(item.size());
    const std::size_t end = line.find(says);
    if (line.substr(0, end) != lower) continue;
    return end == line.npos ? 0 : parse_integer(line.substr(end + says.size())).value_or(0);
  }
  return std::nullopt;
}

namespace {

/// By a name that ends so any model, and of many models such a checkpoint is what from_pretrained takes by itself.
std::optional<std::int64_t> chosen_by(const std::string& given) {
  constexpr std::string_view chosen = "-unsloth-bnb-4bit";
  const std::string lower = lowered(given);
  if (!lower.ends_with(chosen)) return chosen_checkpoint(given);
  return chosen_checkpoint(std::string_view(lower).substr(0, lower.size() - chosen.size())).value_or(0);
}

}  // namespace

// loader_utils.py: BAD_MAPPINGS.
bool is_taken_back(std::string_view given) {
  constexpr auto taken_back =
      std::to_array<std::string_view>({"unsloth/qwen3-32b-unsloth-bnb-4bit", "unsloth/qwen3-30b-a3b-unsloth-bnb-4bit",
                                       "unsloth/qwen3-30b-a3b-base-unsloth-bnb-4bit"});
  return std::ranges::count(taken_back, lowered(given)) > 0;
}

/// Which layers stay in 16 bits only the checkpoint's config.json says. What they come to follows from its size; where
/// that is not known either, it is anything up to all of them.
void choose_layers(const std::string& given, QuantizationFacts& quantization) {
  if (quantization.kind.value != Quantization::nf4) return;
  const std::optional<std::int64_t> bytes = chosen_by(given);
  if (!bytes) return;
  if (*bytes > 0) {
    quantization.checkpoint = {*bytes, assumed("the files of Unsloth's checkpoint, as its notebooks downloaded them")};
    return;
  }
  quantization.skipped = {{"lm_head", "model.layers"},
                          assumed("Unsloth chose the layers to quantize, and only its config.json says which")};
}

}  // namespace unsloth
}  // namespace oomplan::ingestion
