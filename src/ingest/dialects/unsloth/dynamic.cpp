#include "dynamic.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "oomplan/core/embedded.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::ingestion {

std::span<const EmbeddedFile> embedded_files();  // of src/ingest/dialects/

namespace unsloth {

bool is_quantized_by_choice(std::string_view id) {
  constexpr std::string_view item = "- ";
  const EmbeddedFile* names = find_embedded(embedded_files(), "unsloth/dynamic.yaml");
  if (names == nullptr) return false;
  const std::string lower = lowered(id);
  std::string_view text = names->text;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(item) && line.substr(item.size()) == lower) return true;
  }
  return false;
}

}  // namespace unsloth
}  // namespace oomplan::ingestion
