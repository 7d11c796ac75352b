#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "format.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t lines_bytes = std::int64_t{1} << 20;

struct Kind {
  std::string_view format{};
  bool packed = false;
};

Result<Kind> kind_of(const Shard& shard, const ReadOptions& options, const Room& room) {
  std::error_code error;
  if (shard.path == "-" ||
      (std::filesystem::exists(shard.path, error) && !std::filesystem::is_regular_file(shard.path)))
    return Diagnostic{.code = "measure/no-sample", .message = "only files can be sampled", .where = {shard.path}};
  auto bytes = read::open_bytes(shard.path);
  if (!bytes) return bytes.errors();
  Result<std::string> begun = read::first_bytes(**bytes, read::packed_mark_length);
  if (!begun) return begun.errors();
  Kind kind{.packed = read::is_packed(*begun)};
  auto unpacked = read::unpacked(std::move(*bytes), std::move(*begun), shard.path, room.zstd_window_log);
  const Format* format = find_format(options.format);
  if (format == nullptr) {
    const Result<const Format*> told = sniffed(unpacked, shard.path);
    if (!told) return told.errors();
    format = *told;
  }
  if (format != nullptr) kind.format = format->name;
  return kind;
}

}  // namespace

Result<Blocks> Blocks::of(std::vector<Shard> shards, const ReadOptions& options, const Room& room) {
  Blocks out;
  out.room_ = room;
  for (const Shard& shard : shards) {
    const Result<bool> added = out.add(shard, options, room);
    if (!added && !options.skip_bad) return added.errors();
    if (!added) std::ranges::for_each(added.errors(), options.on_skip);
  }
  return out;
}

Result<bool> Blocks::add(const Shard& shard, const ReadOptions& options, const Room& room) {
  const Result<Kind> kind = kind_of(shard, options, room);
  if (!kind) return kind.errors();
  File file{shard, kind->format};
  if (kind->format == "parquet" && !kind->packed) {
    const auto groups = row_groups_of(shard.path, room);
    if (!groups) return groups.errors();
    file.blocks = std::max<std::int64_t>(static_cast<std::int64_t>(groups->groups.size()), 1);
    for (const RowGroup& group : groups->groups)
      rows_ = rows_ ? std::optional(saturating_add(*rows_, group.rows)) : rows_;
  } else {
    rows_.reset();
    const bool lines = !kind->packed && (kind->format == "json-lines" || kind->format == "text");
    if (lines) file.blocks = std::max<std::int64_t>(divided_up(shard.size, lines_bytes), 1);
  }
  count_ += file.blocks;
  begins_.push_back(saturating_add(begins_.back(), shard.size));
  files_.push_back(std::move(file));
  return true;
}

Result<Block> Blocks::at(std::int64_t byte) {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), byte);
  const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
  const File& file = files_[index];
  Block block{file.shard, file.format, static_cast<double>(file.shard.size)};
  if (file.blocks == 1) return block;
  const std::int64_t within = byte - begins_[index];
  if (file.format == "parquet") return row_group_at(index, within);
  const std::int64_t begin = within / lines_bytes * lines_bytes;
  block.shard.part = {.lines = true, .begin = begin, .end = std::min(begin + lines_bytes, file.shard.size)};
  block.shard.size = block.shard.part->end - begin;
  block.bytes = static_cast<double>(block.shard.size);
  return block;
}

/// A byte of the file is one of its row groups, as if they were all that it has.
Result<Block> Blocks::row_group_at(std::size_t index, std::int64_t byte) {
  const File& file = files_[index];
  if (looked_at_ != index) {
    auto groups = row_groups_of(file.shard.path, room_);
    if (!groups) return groups.errors();
    groups_ = std::move(groups->groups);
    looked_at_ = index;
  }
  double all = 0;
  for (const RowGroup& group : groups_) all += static_cast<double>(group.bytes) + 1;  // none is impossible to draw
  const double scale = static_cast<double>(file.shard.size) / all;
  double end = 0;
  Block block{file.shard, file.format};
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    block.bytes = (static_cast<double>(groups_[i].bytes) + 1) * scale;
    block.shard.part = {.begin = static_cast<std::int64_t>(i)};
    end += block.bytes;
    if (end > static_cast<double>(byte)) break;
  }
  block.shard.size = std::llround(block.bytes);
  return block;
}

}  // namespace oomplan::measure
