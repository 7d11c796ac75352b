#include "dynamic.hpp"

#include <algorithm>
#include <span>
#include <string>

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

}  // namespace unsloth
}  // namespace oomplan::ingestion
