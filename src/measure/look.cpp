// What is known of files before their rows are read.
#include <utility>

#include "format.hpp"
#include "oomplan/measure/rows.hpp"
#include "shards.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t most_bytes_of_names = std::int64_t{256} << 20;

}  // namespace

Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  Result<std::vector<Shard>> shards = shards_of(paths, most_bytes_of_names);
  if (!shards) return shards.errors();
  std::vector<std::string> out;
  for (Shard& shard : *shards) out.push_back(std::move(shard.path));
  return out;
}

Result<std::string> format_of(const std::string& path) {
  auto bytes = read::open_bytes(path);
  if (!bytes) return bytes.errors();
  auto unpacked = read::unpacked(std::move(*bytes), path);
  if (!unpacked) return unpacked.errors();
  const Result<std::string> begun = read::first_bytes(**unpacked, sniff_length);
  if (!begun) return begun.errors();
  const Format* const format = sniffed(*begun, path);
  return std::string(format == nullptr ? "" : format->name);
}

}  // namespace oomplan::measure
