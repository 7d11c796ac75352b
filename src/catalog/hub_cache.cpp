#include "hub_cache.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "oomplan/read/byte_source.hpp"

namespace oomplan::catalog {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_part = 96;  // What the hub allows on either side of the slash.
constexpr std::size_t longest_revision = 200;

bool is_plain(std::string_view part, std::size_t longest) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  return !part.empty() && part.size() <= longest && part.front() != '.' && std::ranges::all_of(part, fits);
}

/// "org/name", or the few old ones without an organisation.
bool is_hub_id(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return is_plain(id, longest_part);
  return is_plain(id.substr(0, slash), longest_part) && is_plain(id.substr(slash + 1), longest_part);
}

std::string folder_of(std::string_view id) {
  std::string out = "models--" + std::string(id);
  if (const std::size_t slash = out.find('/'); slash != std::string::npos) out.replace(slash, 1, "--");
  return out;
}

std::optional<std::string> main_revision(const fs::path& model) {
  std::error_code error;
  if (!fs::is_regular_file(model / "refs" / "main", error)) return std::nullopt;
  const auto file = read::open_bytes((model / "refs" / "main").string());
  if (!file) return std::nullopt;
  Result<std::string> text = read::first_bytes(**file, longest_revision + 1);
  if (!text) return std::nullopt;
  text->erase(std::min(text->size(), text->find_last_not_of("\r\n") + 1));
  return is_plain(*text, longest_revision) ? std::optional(std::move(*text)) : std::nullopt;
}

std::optional<fs::path> only_snapshot(const fs::path& model) {
  std::optional<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(model / "snapshots", error), end; !error && at != end; at.increment(error)) {
    if (out) return std::nullopt;
    out = at->path();
  }
  return out;
}

}  // namespace

std::optional<std::string> cached_config(const std::string& cache, std::string_view id) {
  if (cache.empty() || !is_hub_id(id)) return std::nullopt;
  const fs::path model = fs::path(cache) / folder_of(id);
  const std::optional<std::string> revision = main_revision(model);
  const std::optional<fs::path> snapshot =
      revision ? std::optional(model / "snapshots" / *revision) : only_snapshot(model);
  std::error_code error;
  if (!snapshot || !fs::is_regular_file(*snapshot / "config.json", error)) return std::nullopt;
  return (*snapshot / "config.json").string();
}

}  // namespace oomplan::catalog
