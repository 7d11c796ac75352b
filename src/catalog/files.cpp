#include "files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "oomplan/core/embedded.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/packed.hpp"

namespace oomplan::catalog {

std::span<const EmbeddedFile> embedded_files();  // of models/
std::span<const EmbeddedId> embedded_ids();      // of its presets

namespace {

constexpr std::string_view extension = ".yaml";

bool is_in(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() + 1 + extension.size() && path.starts_with(folder) && path[folder.size()] == '/' &&
         path.ends_with(extension);
}

std::string_view name_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  path.remove_suffix(extension.size());
  return path;
}

constexpr std::array<char, 256> squeeze_table = [] {
  std::array<char, 256> out{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) out[c] = static_cast<char>(c);
  for (std::size_t c = 'A'; c <= 'Z'; ++c) out[c] = static_cast<char>(c - 'A' + 'a');
  for (std::size_t c = '0'; c <= '9'; ++c) out[c] = static_cast<char>(c);
  return out;
}();

DataFile of(const ModelFile& own) { return {name_of(own.path), own.path, own.text, {}, own.file}; }

DataFile of(const EmbeddedFile& embedded) { return {name_of(embedded.path), embedded.path, {}, embedded.packed, {}}; }

bool same_path(const DataFile& a, const DataFile& b) { return a.path == b.path; }

}  // namespace

std::vector<DataFile> own_files_in(std::string_view folder, const Catalog& catalog) {
  std::vector<DataFile> out;
  for (const ModelFile& own : catalog.files)
    if (is_in(own.path, folder)) out.push_back(of(own));
  std::ranges::sort(out, {}, &DataFile::path);
  return out;
}

std::vector<DataFile> files_in(std::string_view folder, const Catalog& catalog) {
  std::vector<DataFile> out = own_files_in(folder, catalog);
  for (const EmbeddedFile& embedded : embedded_files())
    if (is_in(embedded.path, folder)) out.push_back(of(embedded));
  // Stable, so that of two with one path the user's own comes first and is the one kept.
  std::stable_sort(out.begin(), out.end(), [](const DataFile& a, const DataFile& b) { return a.path < b.path; });
  out.erase(std::unique(out.begin(), out.end(), same_path), out.end());
  return out;
}

std::optional<DataFile> find_listing(std::string_view id, const Catalog& catalog) {
  const std::string wanted = lowered(id);
  const auto found = std::ranges::lower_bound(embedded_ids(), wanted, {}, &EmbeddedId::id);
  if (found == embedded_ids().end() || found->id != wanted) return std::nullopt;
  if (std::ranges::find(catalog.files, found->path, &ModelFile::path) != catalog.files.end()) return std::nullopt;
  return of(*find_embedded(embedded_files(), found->path));
}

std::optional<DataFile> find_file(std::string_view folder, std::string_view name, const Catalog& catalog) {
  const std::string path = std::string(folder) + "/" + std::string(name) + std::string(extension);
  const auto own = std::ranges::find(catalog.files, path, &ModelFile::path);
  if (own != catalog.files.end()) return of(*own);
  const EmbeddedFile* found = find_embedded(embedded_files(), path);
  return found == nullptr ? std::nullopt : std::optional(of(*found));
}

Result<Document> parse(const DataFile& file) {
  const std::string shown = file.file.empty() ? "models/" + std::string(file.path) : file.file;
  return data_document(file.text, file.packed, shown);
}

std::string squeezed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (const char kept = squeeze_table[static_cast<unsigned char>(c)]; kept != 0) out += kept;
  return out;
}

std::vector<DataFile> mentioning(std::string_view name, const std::vector<DataFile>& files) {
  std::vector<DataFile> out;
  const std::string wanted = squeezed(name);
  if (wanted.empty()) return out;
  std::copy_if(files.begin(), files.end(), std::back_inserter(out), [&](const DataFile& file) {
    return squeezed(file.packed.empty() ? file.text : file.packed).find(wanted) != std::string::npos;
  });
  return out;
}

}  // namespace oomplan::catalog
