#include "units.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "row_groups.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t least_free = std::int64_t{24} << 20;  // of a thread
constexpr std::int64_t least_group = std::int64_t{1}
                                     << 20;  // smaller row groups are not worth a look at the footer each
constexpr std::size_t most_units = 100'000;

bool begins_as_parquet(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char mark[4] = {};
  return file.read(mark, sizeof mark) && std::string_view(mark, sizeof mark) == "PAR1";
}

/// Its row groups, where they are all of it.
void add(const Shard& shard, const ReadOptions& options, const Room& room, std::vector<Shard>& out) {
  out.push_back(shard);
  if ((!options.format.empty() && options.format != "parquet") || !begins_as_parquet(shard.path)) return;
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
      std::min(threads_of(options), static_cast<std::size_t>(std::max<std::int64_t>(room.free / least_free, 1)));
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
    out.shards = shards;
  return out;
}

}  // namespace oomplan::measure
