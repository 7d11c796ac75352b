// axolotl 0.18.0: loaders/tokenizer.py (load_tokenizer), loaders/model.py (_resize_token_embeddings), loaders/utils.py
// (check_model_config).
#include "tokens.hpp"

#include <algorithm>
#include <array>

#include "../../condition.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

using Names = std::vector<std::string>;

/// Whether embeddings and head are trained whole, by the names that get_linear_embedding_layers has for them.
bool saves_embeddings(const TrainingPlan& plan) {
  constexpr std::array<std::array<std::string_view, 2>, 4> pairs{{{"embed_tokens", "lm_head"},
                                                                  {"embed_in", "embed_out"},
                                                                  {"word_embeddings", "lm_head"},
                                                                  {"embeddings", "lm_head"}}};
  const Names& saved = plan.adapter.modules_to_save.value;
  const auto has = [&](std::string_view name) { return std::ranges::count(saved, name) > 0; };
  return std::ranges::any_of(pairs, [&](const auto& pair) { return std::ranges::all_of(pair, has); });
}

/// Whether added_tokens_overrides renames one that the tokenizer has to it.
bool is_renamed(const Inputs& inputs, const std::string& token) {
  const Node* renamed = find_value(inputs, "added_tokens_overrides");
  return renamed != nullptr &&
         std::ranges::any_of(renamed->entries, [&](const Entry& entry) { return entry.value.text == token; });
}

}  // namespace

void plan_tokens(const Arguments& a, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 4> special{"special_tokens.pad_token", "special_tokens.bos_token",
                                                    "special_tokens.eos_token", "special_tokens.unk_token"};
  constexpr std::array<std::string_view, 2> lists{"special_tokens.additional_special_tokens", "tokens"};
  NewTokens& added = draft.plan.new_tokens;
  const bool untrained = draft.plan.adapter.kind.value == Adapter::lora && !saves_embeddings(draft.plan);
  const auto add = [&](const std::string& token, const Origin& origin) {
    if (std::ranges::count(added.names, token) > 0 || is_renamed(inputs, token)) return;
    added.names.push_back(token);
    added.origin = origin;
  };
  for (const std::string_view key : special) {
    const auto token = a.get<std::string>(key);
    if (!token.value) continue;
    add(*token.value, token.origin);
    if (untrained && key != special.front() && !is_renamed(inputs, *token.value)) added.unsaved.push_back(*token.value);
  }
  for (const std::string_view key : lists) {
    const auto tokens = a.get<Names>(key);
    for (const std::string& token : tokens.value.value_or(Names())) add(token, tokens.origin);
  }
  const auto tokens = a.get<Names>("tokens");
  if (untrained && tokens.value && !tokens.value->empty()) {
    conflict(draft, tokens.origin, document,
             "axolotl refuses tokens beside an adapter whose lora_modules_to_save lacks embeddings or head "
             "(embed_tokens and lm_head in most models)");
  }
  const Node* mean = find_value(inputs, "mean_resizing_embeddings");
  if (mean != nullptr && mean->kind == Node::Kind::null)
    draft.plan.model.mean_resizing = {true, stack_of("axolotl-0.18").origin("transformers", "resize_token_embeddings")};
  if (!a.on("resize_token_embeddings_to_32x")) return;
  added.multiple = 32;
  if (added.names.empty()) added.origin = a.get<bool>("resize_token_embeddings_to_32x").origin;
}

}  // namespace oomplan::ingestion::axolotl
