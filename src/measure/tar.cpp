#include "tar.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"
#include "source.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t block_size = 512;
constexpr std::int64_t longest_extension = std::int64_t{1} << 20;  // a pax header or a long name
constexpr std::size_t most_pieces = 65'536;                        // of a sparse file

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

/// Calls `take` with each key and value of records as "27 path=a/b.jpg\n", in order. False where they are malformed.
template <class Take>
bool each_record(std::string_view records, const Take& take) {
  while (!records.empty() && records.front() != '\0') {
    const std::size_t space = records.find(' ');
    if (space == std::string_view::npos) return false;
    const auto length = parse_integer(records.substr(0, space));
    if (!length || *length <= static_cast<std::int64_t>(space) || *length > static_cast<std::int64_t>(records.size()))
      return false;
    std::string_view record = records.substr(space + 1, static_cast<std::size_t>(*length) - space - 1);
    records.remove_prefix(static_cast<std::size_t>(*length));
    if (record.ends_with('\n')) record.remove_suffix(1);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    take(record.substr(0, equals), record.substr(equals + 1));
  }
  return true;
}

/// What pax says of a file, GNU's three ways to say where a sparse one has holes among it. Values that are no numbers
/// count as -1, which nothing may be.
class PaxHeader {
 public:
  explicit PaxHeader(TarExtension& out) : out_(out) {}

  void take(std::string_view key, std::string_view value) {
    if (key == "path") path_ = value;
    if (key == "size") out_.size = number_of(value);
    if (!key.starts_with("GNU.sparse.")) return;
    key.remove_prefix(std::string_view("GNU.sparse.").size());
    out_.sparse = true;
    if (key == "name") sparse_name_ = value;
    if (key == "major") out_.map_in_file = number_of(value) == 1;
    if (key == "size" || key == "realsize") out_.whole = number_of(value);
    if (key == "offset") out_.stored.push_back({number_of(value), -1});
    if (key == "numbytes" && !out_.stored.empty()) out_.stored.back().size = number_of(value);
    if (key == "map") take_map(value);
  }

  void finish() {
    if (!path_.empty()) out_.name = path_;
    if (!sparse_name_.empty()) out_.name = sparse_name_;
  }

 private:
  static std::int64_t number_of(std::string_view text) { return parse_integer(text).value_or(-1); }

  void take_map(std::string_view map) {
    out_.stored.clear();
    for (bool size = false; !map.empty(); size = !size) {
      const std::string_view word = map.substr(0, map.find(','));
      map.remove_prefix(std::min(map.size(), word.size() + 1));
      if (!size) out_.stored.push_back({number_of(word), -1});
      if (size) out_.stored.back().size = number_of(word);
    }
  }

  TarExtension& out_;
  std::string path_{};
  std::string sparse_name_{};
};

/// Pairs of an offset and a length, as old GNU headers have them; where one is empty, the list ends.
bool add_pieces(std::string_view pairs, std::vector<Stored>& out) {
  for (; !pairs.empty(); pairs.remove_prefix(24)) {
    if (pairs.front() == '\0') return true;
    const auto begin = number(pairs.substr(0, 12));
    const auto size = number(pairs.substr(12, 12));
    if (!begin || !size) return false;
    out.push_back({*begin, *size});
  }
  return true;
}

/// In order, apart, within the file, and together as long as what is stored.
bool makes_sense(const std::vector<Stored>& pieces, std::int64_t whole, std::int64_t stored) {
  std::int64_t end = 0;
  std::int64_t sum = 0;
  for (const Stored& piece : pieces) {
    if (piece.begin < end || piece.size < 0 || piece.begin > whole || piece.size > whole - piece.begin) return false;
    end = piece.begin + piece.size;
    sum += piece.size;
  }
  return sum == stored;
}

}  // namespace

Result<std::size_t> Tar::read(char* out, std::size_t most) {
  while (next_ < stored_.size() && at_ == stored_[next_].begin + stored_[next_].size) ++next_;
  const bool hole = next_ == stored_.size() || at_ < stored_[next_].begin;
  const std::int64_t until = next_ == stored_.size() ? end_
                             : hole                  ? stored_[next_].begin
                                                     : stored_[next_].begin + stored_[next_].size;
  const auto count = static_cast<std::size_t>(std::min(until - at_, static_cast<std::int64_t>(most)));
  if (hole) std::fill_n(out, count, '\0');
  const Result<std::size_t> got = hole || count == 0 ? Result<std::size_t>(count) : read_stored(out, count);
  if (got) at_ += static_cast<std::int64_t>(*got);
  return got;
}

Result<std::size_t> Tar::read_stored(char* out, std::size_t most) {
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
    if (Result<std::size_t> got = read_stored(piece.data(), piece.size()); !got) return got.errors();
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
    const Result<std::size_t> got = read_stored(out.data() + have, out.size() - have);
    if (!got) return got.errors();
    have += *got;
  }
  return out;
}

Diagnostic Tar::bad_member(const std::string& name, const std::string& why) const {
  return bad_file(path_, "the member '" + name + "', before byte " + std::to_string(offset_) + ", " + why);
}

/// A header that says something of the file behind it: a long name, or pax records.
Result<bool> Tar::extend(char type, TarExtension& out) {
  const Result<std::string> text = extension(left_);
  if (!text) return text.errors();
  if (type == 'L') {
    out.name = text->substr(0, text->find('\0'));
    return true;
  }
  PaxHeader header(out);
  if (!each_record(*text, [&](std::string_view key, std::string_view value) { header.take(key, value); }))
    return bad_file(path_, "the pax header before byte " + std::to_string(offset_) + " is broken");
  header.finish();
  if (out.size && *out.size < 0) return bad_file(path_, "a negative size");
  return true;
}

/// Of GNU's own kind of sparse member: four pieces in the header, others in blocks behind it.
Result<bool> Tar::old_map(std::string_view block, TarExtension& out) {
  out.sparse = true;
  out.whole = number(block.substr(483, 12));
  if (!add_pieces(block.substr(386, 96), out.stored)) out.whole.reset();
  return block[482] != '\0' ? more_of_old_map(out) : Result<bool>(true);
}

Result<bool> Tar::more_of_old_map(TarExtension& out) {
  std::array<char, block_size> bytes;
  do {
    const Result<Block> more = block(bytes.data());
    if (!more) return more.errors();
    const std::string_view text(bytes.data(), bytes.size());
    if (*more == Block::end || !add_pieces(text.substr(0, 504), out.stored) || out.stored.size() > most_pieces) {
      out.whole.reset();
      return true;
    }
  } while (bytes[504] != '\0');
  return true;
}

/// Of pax's sparse members since version 1.0: a number a line before the contents, padded to whole blocks.
Result<bool> Tar::map_in_file(TarExtension& out) {
  std::vector<std::int64_t> numbers;
  std::string line;
  std::array<char, block_size> bytes;
  while (numbers.empty() || numbers.size() <= 2 * static_cast<std::size_t>(numbers.front())) {
    for (std::size_t have = 0; have < bytes.size();) {
      const Result<std::size_t> got = read_stored(bytes.data() + have, bytes.size() - have);
      if (!got) return got.errors();
      if (*got == 0) return true;  // out.whole and what is stored will not agree
      have += *got;
    }
    for (const char c : bytes) {
      if (c != '\n') {
        line += c;
        continue;
      }
      const auto value = parse_integer(std::exchange(line, {})).value_or(-1);
      if (numbers.empty() || numbers.size() <= 2 * static_cast<std::size_t>(numbers.front())) numbers.push_back(value);
      if (value < 0 || numbers.front() > static_cast<std::int64_t>(most_pieces)) {
        out.whole.reset();
        return true;
      }
    }
    if (line.size() > 20) line.resize(20);  // the padding, or no number
  }
  for (std::size_t i = 1; i + 1 < numbers.size(); i += 2) out.stored.push_back({numbers[i], numbers[i + 1]});
  return true;
}

Result<TarEntry> Tar::sparse(TarEntry entry, TarExtension extension) {
  if (extension.map_in_file) {
    if (Result<bool> read = map_in_file(extension); !read) return read.errors();
  }
  if (!extension.whole || *extension.whole < 0 || !makes_sense(extension.stored, *extension.whole, left_))
    return bad_member(entry.name, "is sparse, and its list of pieces makes no sense");
  stored_ = std::move(extension.stored);
  entry.size = end_ = *extension.whole;
  return entry;
}

/// Of a plain file, whose header was read.
Result<TarEntry> Tar::entry_of(std::string_view block, TarExtension extension) {
  TarEntry entry{extension.name ? *extension.name : name_in(block), left_};
  if (block[156] == 'S') {
    if (Result<bool> read = old_map(block, extension); !read) return read.errors();
  }
  if (extension.sparse) return sparse(std::move(entry), std::move(extension));
  stored_ = {{0, left_}};
  end_ = left_;
  return entry;
}

Result<std::optional<TarEntry>> Tar::next() {
  TarExtension extension;
  bool zeros = false;  // which end an archive; another may follow
  while (true) {
    if (Result<bool> passed = pass_over(); !passed) return passed.errors();
    stored_.clear();
    at_ = end_ = 0;
    next_ = 0;
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
    const bool plain = type == '0' || type == '\0' || type == '7' || type == 'S';
    left_ = plain && extension.size ? *extension.size : *declared;
    if (left_ > std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(block_size))
      return bad_file(path_, "no file has the size that the header before byte " + std::to_string(offset_) + " says");
    padding_ = (512 - left_ % 512) % 512;
    if (type == 'M') return bad_member(name_in(block), "continues one of another volume; join the volumes first");
    if (type == 'L' || type == 'x') {
      if (Result<bool> read = extend(type, extension); !read) return read.errors();
      continue;
    }
    if (!plain) {
      extension = {};
      continue;
    }
    Result<TarEntry> entry = entry_of(block, std::move(extension));
    if (!entry) return entry.errors();
    return std::optional(std::move(*entry));
  }
}

}  // namespace oomplan::measure
