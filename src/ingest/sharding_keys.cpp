#include "sharding_keys.hpp"

#include <algorithm>
#include <utility>

namespace oomplan::ingestion {
namespace {

/// The mapping that an input holds, or that the file holds which it names: beside the working directory, as the
/// frameworks take a path, or beside the file that says it. Null where there is none.
struct Named {
  const Document* document = nullptr;
  const Node* mapping = nullptr;
};

Named named_by(const Input& input, const Loader& loader, std::deque<Document>& documents) {
  if (input.value->is_mapping()) return {input.document, input.value};
  const auto path = read_text(*input.value);
  if (!path || !loader || !path->ends_with(".json")) return {};
  const std::string from_file = beside(input.document->file, *path);
  Result<Document> read = loader(*path);
  if (!read && from_file != *path) read = loader(from_file);
  if (!read || !read->root.is_mapping()) return {};
  const Document& kept = documents.emplace_back(*std::move(read));
  return {&kept, &kept.root};
}

}  // namespace

const Input* find_input(const Inputs& inputs, std::string_view key) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

Inputs fsdp_inputs(const Document& document, const Node& mapping) {
  constexpr std::string_view prefix = "fsdp_";
  Inputs out = inputs_of(document, mapping);
  for (Input& input : out) {
    if (input.key.starts_with(prefix)) input.key.erase(0, prefix.size());
  }
  return out;
}

Inputs fsdp_inputs_of(const Input& input, const Loader& loader, std::deque<Document>& documents) {
  const Named named = named_by(input, loader, documents);
  return named.mapping == nullptr ? Inputs() : fsdp_inputs(*named.document, *named.mapping);
}

Arguments read_within(std::string_view table, const Inputs& inputs, const std::string& within, Findings& findings) {
  Arguments out(arguments_of(table));
  read_rows({out.rows(), {}, &key_file(table)}, inputs, findings);
  for (Unmodelled& gap : findings.unmodelled) gap.key = within + gap.key;
  return out;
}

// What DeepSpeed's other keys say is nothing to this program as long as nothing of it is played.
void note_deepspeed(const Document& document, const Node& mapping, const std::string& within, Draft& draft) {
  Findings findings;
  read_within("deepspeed", inputs_of(document, mapping), within, findings);
  findings.warnings.clear();
  findings.errors.clear();
  take(draft, std::move(findings));
}

void note_deepspeed_file(const Input& input, const Loader& loader, std::deque<Document>& documents, Draft& draft) {
  const Named named = named_by(input, loader, documents);
  if (named.mapping != nullptr) note_deepspeed(*named.document, *named.mapping, {}, draft);
}

void note_sharding(const Inputs& inputs, const Loader& loader, std::deque<Document>& documents, Draft& draft) {
  const auto asked = [&](std::initializer_list<std::string_view> keys) {
    return std::ranges::any_of(keys, [&](std::string_view key) {
      return std::ranges::count(draft.plan.unmodelled, key, &Unmodelled::key) > 0;
    });
  };
  const Input* deepspeed = asked({"deepspeed"}) ? find_input(inputs, "deepspeed") : nullptr;
  if (deepspeed != nullptr) note_deepspeed_file(*deepspeed, loader, documents, draft);
}

}  // namespace oomplan::ingestion
