#include "key_file.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace oomplan::ingestion {
namespace {

constexpr std::string_view shares = "shares: ";
constexpr std::string_view started_by = "started_by: ";

std::vector<KeyLine>* section_of(KeyFile& file, std::string_view name) {
  if (name == "keys") return &file.keys;
  if (name == "reasons") return &file.reasons;
  if (name == "no_effect") return &file.no_effect;
  if (name == "refused") return &file.refused;
  if (name == "others") return &file.others;
  if (name == "until") return &file.until;
  if (name == "since") return &file.since;
  if (name == "fixes") return &file.fixes;
  return name == "unmodelled" ? &file.unmodelled : nullptr;
}

std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

void add(const std::vector<KeyLine>& from, std::vector<KeyLine>& to) { to.insert(to.end(), from.begin(), from.end()); }

KeyFile embedded(std::string_view dialect) {
  const EmbeddedFile* found = find_embedded(embedded_files(), std::string(dialect) + "/keys.yaml");
  if (found == nullptr) return {};
  KeyFile out = parse_key_file(found->text);
  if (out.shares.empty()) return out;
  const KeyFile shared = embedded(out.shares);
  add(shared.reasons, out.reasons);
  add(shared.no_effect, out.no_effect);
  add(shared.refused, out.refused);
  add(shared.unmodelled, out.unmodelled);
  return out;
}

}  // namespace

KeyFile parse_key_file(std::string_view text) {
  KeyFile out;
  std::vector<KeyLine>* section = nullptr;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto colon = line.find(": ");
    if (line.starts_with("  ") && section != nullptr && colon != line.npos) {
      section->push_back({line.substr(2, colon - 2), unquoted(line.substr(colon + 2))});
    } else if (line.starts_with(started_by)) {
      out.started_by = line.substr(started_by.size());
    } else if (line == "closed: true") {
      out.closed = true;
    } else if (line.starts_with(shares)) {
      out.shares = line.substr(shares.size());
    } else if (line.ends_with(':')) {
      section = section_of(out, line.substr(0, line.size() - 1));
    }
  }
  return out;
}

const KeyFile& key_file(std::string_view dialect) {
  static std::mutex mutex;
  static std::map<std::string, KeyFile, std::less<>> files;
  const std::lock_guard lock(mutex);
  const auto found = files.find(dialect);
  if (found != files.end()) return found->second;
  return files.emplace(std::string(dialect), embedded(dialect)).first->second;
}

}  // namespace oomplan::ingestion
