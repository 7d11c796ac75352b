#include "plain_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "script_arguments.hpp"

namespace oomplan::cli {
namespace {

std::int64_t usual_length(const Architecture& model) {
  constexpr std::int64_t usual = 512;
  return model.max_positions > 0 ? std::min(model.max_positions, usual) : usual;
}

}  // namespace

// What a step gives of a pipeline nobody reads.
Result<ReadConfig> plain_loop(const std::string& name, const RecipeAsked& recipe, const Catalog& catalog) {
  if (recipe.method == "qlora")
    return Diagnostic{.code = "cli/usage", .message = "--loop torch goes with --method full or lora"};
  const Result<Architecture> model = find_model(name, catalog);
  if (!model) return model.errors();
  std::string text =
      fmt::format("model: {}\nweights_dtype: bf16\nmicro_batch_size: {}\nsequence_length: {}\n", in_quotes(name),
                  recipe.batch.value_or(1), recipe.length.value_or(usual_length(*model)));
  if (recipe.method == "lora") text += "adapter: lora\n";
  text += "pipeline_outputs: false\n";
  Result<Document> document = parse_document(text, "oomplan.yaml", Syntax::yaml);
  if (!document) return document.errors();
  std::string said = "oomplan.yaml with ";
  for (const char c : text) said += c == '\n' ? ';' : c;
  said.pop_back();
  return ReadConfig{std::move(*document), std::move(said)};
}

}  // namespace oomplan::cli
