#include "file_kind.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "oomplan/core/embedded.hpp"
#include "oomplan/ingest/keys.hpp"
#include "oomplan/read/packed.hpp"

namespace oomplan::ingestion {

std::span<const EmbeddedFile> embedded_files();  // of src/ingest/dialects/

namespace {

const Node& others() {
  static const Node all = [] {
    const EmbeddedFile* file = find_embedded(embedded_files(), "others.yaml");
    return file == nullptr ? Node{} : unpack(file->packed);
  }();
  return all;
}

std::ptrdiff_t count_of(const Inputs& inputs, const Node* keys) {
  if (keys == nullptr) return 0;
  return std::ranges::count_if(keys->items, [&](const Node& key) { return has_path(inputs, key.text); });
}

bool has_all(const Inputs& inputs, const Node& keys) { return count_of(inputs, &keys) == std::ssize(keys.items); }

bool is_kind(const Inputs& inputs, const Node& kind) {
  if (count_of(inputs, kind.find("lacks")) > 0) return false;
  if (count_of(inputs, kind.find("two_of")) >= 2) return true;
  const Node* marks = kind.find("marks");
  return marks != nullptr && std::ranges::any_of(marks->items, [&](const Node& keys) { return has_all(inputs, keys); });
}

std::string_view words_at(const Node& kind, std::string_view key) {
  const Node* found = kind.find(key);
  return found == nullptr ? std::string_view{} : std::string_view(found->text);
}

bool is_token(const Input& input) { return input.key.starts_with('<') && input.key.ends_with('>'); }

}  // namespace

// A framework that reads its arguments from the command line has dots in their names.
bool has_path(const Inputs& inputs, std::string_view path) {
  const std::string_view first = path.substr(0, path.find('.'));
  return std::ranges::any_of(inputs, [&](const Input& input) {
    if (input.key == path) return true;
    return input.key == first && first.size() < path.size() && input.value->is_mapping() &&
           find_path(*input.value, path.substr(first.size() + 1)) != nullptr;
  });
}

std::optional<FileKind> kind_of(const Inputs& inputs) {
  if (!inputs.empty() && std::ranges::all_of(inputs, is_token))
    return FileKind{"a list of special tokens", "name it in a training config (new_special_tokens_config: …)"};
  const auto& kinds = others().items;
  const auto found = std::ranges::find_if(kinds, [&](const Node& kind) { return is_kind(inputs, kind); });
  if (found == kinds.end()) return std::nullopt;
  return FileKind{words_at(*found, "what"), words_at(*found, "hint"), found->find("trains") != nullptr};
}

}  // namespace oomplan::ingestion
