#include "units.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "format.hpp"
#include "row_groups.hpp"

namespace oomplan::measure {
namespace {

// Of a row group: each is read with a look at the file's footer.
constexpr std::int64_t least_group = std::int64_t{1} << 20;
constexpr std::size_t most_units = 100'000;

bool is_parquet(const std::string& path, const std::string& format) {
  if (!format.empty()) return format == "parquet";
  const auto bytes = read::open_bytes(path);
  if (!bytes) return false;
  const Result<std::string> begun = read::first_bytes(**bytes, 4);  // its mark
  const Format* const told = begun ? sniffed(*begun, path) : nullptr;
  return told != nullptr && told->name == "parquet";
}

/// Its row groups, where they are all of it.
void add(const Shard& shard, const ReadOptions& options, const Room& room, std::vector<Shard>& out) {
  out.push_back(shard);
  if (shard.size < 2 * least_group || !is_parquet(shard.path, options.format)) return;
  const Result<ParquetRows> rows = row_groups_of(shard.path, room);
  if (!rows || rows->groups.size() < 2) return;
  std::int64_t all = 0;
  for (const RowGroup& group : rows->groups) all = saturating_add(all, group.rows);
  const auto count = static_cast<std::int64_t>(rows->groups.size());
  if (all != rows->declared || shard.size / count < least_group || out.size() + rows->groups.size() > most_units)
    return;
  out.pop_back();
  for (std::int64_t i = 0; i < count; ++i) {
    Shard part = shard;
    part.part = {.begin = i};
    part.size = shard.size / count + (i < shard.size % count ? 1 : 0);
    out.push_back(std::move(part));
  }
}

Room share_of(const Room& room, std::size_t threads) {
  Room share = room_from(room.budget, room.free / static_cast<std::int64_t>(threads));
  share.batch = std::max(room.batch / static_cast<std::int64_t>(threads), std::int64_t{256} << 10);
  return share;
}

}  // namespace

std::size_t threads_of(const ReadOptions& options) {
  return options.threads > 0 ? static_cast<std::size_t>(options.threads)
                             : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

Units units_of(const std::vector<Shard>& shards, const ReadOptions& options, const Room& room) {
  Units out{.room = room};
  const auto most =
      std::min(threads_of(options), static_cast<std::size_t>(std::max<std::int64_t>(room.free / least_of_thread, 1)));
  const auto is_file = [](const Shard& shard) {
    std::error_code error;
    return std::filesystem::is_regular_file(shard.path, error);
  };
  if (most > 1 && !options.skip_bad && std::ranges::all_of(shards, is_file)) {
    for (const Shard& shard : shards) add(shard, options, room, out.shards);
    out.threads = std::min(most, out.shards.size());
  }
  if (out.threads > 1)
    out.room = share_of(room, out.threads);
  else
    out.shards.clear();
  return out;
}

}  // namespace oomplan::measure
