#include "tar.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "oomplan/bytes.hpp"
#include "oomplan/text.hpp"
#include "source.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t block_size = 512;
constexpr std::int64_t longest_extension = std::int64_t{1} << 20;  // a pax header or a long name

std::string_view field(std::string_view block, std::size_t at, std::size_t length) {
  const std::string_view text = block.substr(at, length);
  return text.substr(0, text.find('\0'));
}

/// Octal digits, or GNU's big-endian binary with the highest bit set.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  if (!text.empty() && (static_cast<unsigned char>(text[0]) & 0x80) != 0) {
    if (static_cast<unsigned char>(text[0]) != 0x80) return std::nullopt;
    for (const char c : text.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  bool any = false;
  for (const char c : text) {
    if (c == ' ' || c == '\0') {
      if (any) break;
      continue;
    }
    if (c < '0' || c > '7' || value >> 60 != 0) return std::nullopt;
    value = value * 8 + (c - '0');
    any = true;
  }
  return value;
}

bool checksum_holds(std::string_view block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < block_size; ++i) {
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return number(block.substr(148, 8)) == sum;
}

std::string name_in(std::string_view block) {
  const std::string_view prefix = block.substr(257, 5) == "ustar" ? field(block, 345, 155) : "";
  const std::string name(field(block, 0, 100));
  return prefix.empty() || block.substr(257, 8) == "ustar  " ? name : std::string(prefix) + "/" + name;
}

/// "27 path=a/b.jpg\n" a record; the last value of `key`.
std::optional<std::string> pax_value(std::string_view records, std::string_view key) {
  std::optional<std::string> out;
  while (!records.empty()) {
    const std::size_t space = records.find(' ');
    if (space == std::string_view::npos) break;
    const auto length = parse_integer(records.substr(0, space));
    if (!length || *length <= static_cast<std::int64_t>(space) || *length > static_cast<std::int64_t>(records.size()))
      break;
    std::string_view record = records.substr(space + 1, static_cast<std::size_t>(*length) - space - 1);
    records.remove_prefix(static_cast<std::size_t>(*length));
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.starts_with(key) && record.substr(key.size()).starts_with('=')) out = record.substr(key.size() + 1);
  }
  return out;
}

}  // namespace

Result<std::size_t> Tar::read(char* out, std::size_t most) {
  if (left_ == 0) return std::size_t{0};
  Result<std::size_t> got =
      bytes_->read(out, static_cast<std::size_t>(std::min<std::int64_t>(left_, static_cast<std::int64_t>(most))));
  if (!got) return got.errors();
  if (*got == 0) {
    left_ = 0;
    return Diagnostic{.code = "read/truncated", .message = "the file ends within the archive", .where = {path_}};
  }
  left_ -= static_cast<std::int64_t>(*got);
  offset_ += static_cast<std::int64_t>(*got);
  return got;
}

Result<bool> Tar::pass_over() {
  std::array<char, 16384> piece;
  for (left_ += std::exchange(padding_, 0); left_ > 0;) {
    if (Result<std::size_t> got = read(piece.data(), piece.size()); !got) return got.errors();
  }
  return true;
}

Result<Tar::Block> Tar::block(char* block) {
  for (std::size_t have = 0; have < block_size;) {
    const Result<std::size_t> got = bytes_->read(block + have, block_size - have);
    if (!got) return got.errors();
    if (*got == 0 && have == 0) return Block::end;
    if (*got == 0)
      return Diagnostic{.code = "read/truncated", .message = "the file ends within the archive", .where = {path_}};
    have += *got;
  }
  offset_ += static_cast<std::int64_t>(block_size);
  return std::any_of(block, block + block_size, [](char c) { return c != '\0'; }) ? Block::header : Block::zeros;
}

Result<std::string> Tar::extension(std::int64_t size) {
  if (size > longest_extension) {
    return bad_file(path_, "a header of " + std::to_string(size) + " bytes before byte " + std::to_string(offset_));
  }
  std::string out(static_cast<std::size_t>(size), '\0');
  for (std::size_t have = 0; have < out.size();) {
    const Result<std::size_t> got = read(out.data() + have, out.size() - have);
    if (!got) return got.errors();
    have += *got;
  }
  return out;
}

Result<std::optional<TarEntry>> Tar::next() {
  std::optional<std::string> name;
  std::optional<std::int64_t> size;
  bool zeros = false;  // which end an archive; another may follow
  while (true) {
    if (Result<bool> passed = pass_over(); !passed) return passed.errors();
    std::array<char, block_size> bytes;
    const Result<Block> more = this->block(bytes.data());
    if (!more) return more.errors();
    if (*more == Block::end && zeros) return std::optional<TarEntry>();
    if (*more == Block::end)
      return Diagnostic{.code = "read/truncated", .message = "the archive lacks its end", .where = {path_}};
    zeros = *more == Block::zeros;
    if (zeros) continue;
    const std::string_view block(bytes.data(), bytes.size());
    const auto declared = number(block.substr(124, 12));
    if (!checksum_holds(block) || !declared) {
      return bad_file(path_, "the header at byte " + std::to_string(offset_ - static_cast<std::int64_t>(block_size)) +
                                 " is broken");
    }
    const char type = block[156];
    const bool plain = type == '0' || type == '\0' || type == '7';
    left_ = plain && size ? *size : *declared;
    if (left_ > std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(block_size))
      return bad_file(path_, "no file has the size that the header before byte " + std::to_string(offset_) + " says");
    padding_ = (512 - left_ % 512) % 512;
    if (type == 'L' || type == 'x') {
      const Result<std::string> text = extension(left_);
      if (!text) return text.errors();
      if (type == 'L') name = text->substr(0, text->find('\0'));
      if (type == 'x') {
        if (auto path = pax_value(*text, "path")) name = *path;
        if (const auto bytes_of_file = pax_value(*text, "size")) size = parse_integer(*bytes_of_file);
        if (size && *size < 0) return bad_file(path_, "a negative size");
      }
      continue;
    }
    if (plain) return std::optional(TarEntry{name ? *name : name_in(block), left_});
    name.reset();
    size.reset();
  }
}

}  // namespace oomplan::measure
