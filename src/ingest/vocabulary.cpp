#include "vocabulary.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/embedded.hpp"
#include "oomplan/read/packed.hpp"

namespace oomplan::ingestion {

std::span<const EmbeddedFile> embedded_files();  // of src/ingest/dialects/

namespace {

const Node& tokenizers() {
  static const Node all = [] {
    const EmbeddedFile* file = find_embedded(embedded_files(), "tokenizers.yaml");
    return file == nullptr ? Node{} : unpack(file->packed);
  }();
  return all;
}

bool has_value(const Architecture& model, const Entry& asked) {
  if (asked.key == "model_type") return model.model_type == asked.value.text;
  const auto found = std::ranges::find(model.config, asked.key, [](const auto& row) { return row.first; });
  const auto* value = found == model.config.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value != nullptr && *value == asked.value.as_integer();
}

/// Null where nothing is known of it.
const Node* tokenizer_of(const Architecture& model) {
  const Node* out = nullptr;
  std::size_t most = 0;
  for (const Node& one : tokenizers().items) {
    const auto& asked = one.find("config")->entries;
    const bool is_it = std::ranges::all_of(asked, [&](const Entry& entry) { return has_value(model, entry); });
    if (!is_it || asked.size() <= most) continue;
    out = &one;
    most = asked.size();
  }
  return out;
}

/// A "*" stands for a number.
bool names(std::string_view pattern, std::string_view token) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == token;
  const std::string_view start = pattern.substr(0, star);
  const std::string_view end = pattern.substr(star + 1);
  if (token.size() <= start.size() + end.size() || !token.starts_with(start) || !token.ends_with(end)) return false;
  const std::string_view number = token.substr(start.size(), token.size() - start.size() - end.size());
  return std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

bool any_item(const Node* list, const auto& test) {
  return list != nullptr && std::ranges::any_of(list->items, [&](const Node& item) { return test(item.text); });
}

bool has_token(const Node* tokenizer, std::string_view token) {
  return tokenizer != nullptr &&
         any_item(tokenizer->find("tokens"), [&](std::string_view pattern) { return names(pattern, token); });
}

/// Whether the tokenizer is known not to have it. SentencePiece has one for each byte ("<0x0A>").
bool lacks_token(const Node* tokenizer, const Architecture& model, std::string_view token) {
  const bool special = token.starts_with('<') && token.ends_with('>') && !token.starts_with("<0x");
  return tokenizer != nullptr && special && !has_token(tokenizer, token) &&
         any_item(tokenizer->find("of"), [&](std::string_view id) { return model.source.starts_with(id); });
}

std::optional<Diagnostic> refused_token(const NewTokens& added, const Node* tokenizer, const Architecture& model) {
  const auto is_new = [&](const std::string& token) { return lacks_token(tokenizer, model, token); };
  const auto found = std::ranges::find_if(added.unsaved, is_new);
  if (found == added.unsaved.end()) return std::nullopt;
  return Diagnostic{Severity::error,
                    "ingest/refused",
                    "axolotl 0.18.0 stops at a new special token (" + *found +
                        ") beside an adapter that does not train embeddings and head whole (ValueError)",
                    added.origin.where,
                    "lora_modules_to_save: [embed_tokens, lm_head], or a token that the tokenizer has",
                    {}};
}

std::int64_t integer_at(const Node* tokenizer, std::string_view key) {
  const Node* found = tokenizer == nullptr ? nullptr : tokenizer->find(key);
  return found == nullptr ? 0 : found->as_integer().value_or(0);
}

/// Whether a run holds more in its steps, whatever loading holds beside the model: gradients of all of it are more than
/// a second embedding, and what is sharded is loaded on the host, or gathers as much. Axolotl puts a quantized model on
/// the GPU whole.
bool is_outweighed(const TrainingPlan& plan) {
  const RecipeFacts& recipe = plan.recipe;
  const bool some = !recipe.trained.value.empty() || !recipe.frozen.value.empty() || recipe.trained_layers.value != 0;
  const bool whole = plan.adapter.kind.value == Adapter::none && !some && !plan.optimizer.in_backward.value;
  const bool on_host = !holds_whole(plan.mesh) && plan.quantization.kind.value == Quantization::none;
  return on_host || (whole && !plan.model.mean_resizing.value);
}

}  // namespace

std::optional<Diagnostic> enlarge_vocabulary(TrainingPlan& plan, const Architecture& model) {
  const NewTokens& added = plan.new_tokens;
  if (added.names.empty() && added.multiple == 1) return std::nullopt;
  const Node* tokenizer = tokenizer_of(model);
  if (std::optional<Diagnostic> refused = refused_token(added, tokenizer, model)) return refused;
  Setting<std::int64_t>& vocabulary = plan.model.vocabulary;
  if (vocabulary.origin.is_said()) return std::nullopt;
  const auto lacked = [&](const std::string& token) { return lacks_token(tokenizer, model, token); };
  const auto unknown = [&](const std::string& token) { return !has_token(tokenizer, token); };
  const auto sure = std::ranges::count_if(added.names, lacked);
  const auto most = std::ranges::count_if(added.names, unknown);
  const std::int64_t rows = vocabulary_of(model);
  const std::int64_t room = integer_at(tokenizer, "room");
  const std::int64_t length = integer_at(tokenizer, "length");
  const std::int64_t had = length > 0 ? length : rows;
  const std::int64_t wanted = padded_to(saturating_add(had, most), added.multiple);
  const bool known = length > 0 && had == rows && sure == most;
  if (most == 0 && added.multiple == 1) return std::nullopt;
  if ((rows > 0 && wanted <= rows) || most < room || (!known && is_outweighed(plan))) return std::nullopt;
  if (rows == 0) {
    plan.unmodelled.push_back(
        {"what new tokens do to the vocabulary of a model of type " + model.model_type, "tokens", added.origin.where});
    return std::nullopt;
  }
  vocabulary = {wanted, known ? added.origin : assumed("the tokenizer may lack tokens that the config adds")};
  if (known) derive(vocabulary.origin, "beside the " + std::to_string(had) + " that the tokenizer has");
  return std::nullopt;
}

}  // namespace oomplan::ingestion
