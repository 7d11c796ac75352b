#include "wandb_log.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace oomplan::read {
namespace {

constexpr std::string_view mark(":W&B\xE1\xBE\0", 7);
constexpr std::size_t block_size = 32768;
constexpr std::size_t header_size = 7;
constexpr std::size_t most_record = std::size_t{1} << 20;

enum ChunkType : unsigned char { full = 1, first = 2, middle = 3, last = 4 };

std::uint32_t little(std::string_view bytes) {
  std::uint32_t out = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) out = out << 8U | static_cast<unsigned char>(bytes[i]);
  return out;
}

/// The fields of a protocol buffer's message, one by one; ends at the first that is malformed.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;   // of a varint
    std::string_view bytes{};  // of one with a length
  };
  std::optional<Field> next() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return std::nullopt;
    Field out{.number = *tag >> 3U};
    switch (*tag & 7U) {
      case 0: {
        const std::optional<std::uint64_t> value = varint();
        if (!value) return std::nullopt;
        out.value = *value;
        return out;
      }
      case 1:
        return skip(8) ? std::optional(out) : std::nullopt;
      case 2: {
        const std::optional<std::uint64_t> length = varint();
        if (!length || *length > rest_.size()) return std::nullopt;
        out.bytes = rest_.substr(0, *length);
        rest_.remove_prefix(*length);
        return out;
      }
      case 5:
        return skip(4) ? std::optional(out) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return out;
    }
    return std::nullopt;
  }
  bool skip(std::size_t bytes) {
    if (rest_.size() < bytes) return false;
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
};

class Console : public ByteSource {
 public:
  Console(std::unique_ptr<ByteSource> file, std::string begun) : file_(put_back(std::move(file), std::move(begun))) {}

  Result<std::size_t> read(char* out, std::size_t most) override {
    while (used_ == text_.size() && !ended_) {
      text_.clear();
      used_ = 0;
      Result<bool> more = read_block();
      if (!more) return more.errors();
      ended_ = !*more;
    }
    const std::size_t got = text_.copy(out, most, used_);
    used_ += got;
    return got;
  }

 private:
  // The first block has the mark before its chunks.
  Result<bool> read_block() {
    Result<std::string> block = first_bytes(*file_, block_size);
    if (!block) return block.errors();
    std::string_view rest = *block;
    if (std::exchange(at_start_, false)) rest.remove_prefix(std::min(mark.size(), rest.size()));
    while (rest.size() >= header_size) {
      const std::uint32_t checksum = little(rest.substr(0, 4));
      const std::size_t length = little(rest.substr(4, 2));
      const auto type = static_cast<unsigned char>(rest[6]);
      rest.remove_prefix(header_size);
      if (length > rest.size()) break;
      add_chunk(type, rest.substr(0, length), checksum);
      rest.remove_prefix(length);
    }
    return block->size() == block_size;
  }

  void add_chunk(unsigned char type, std::string_view data, std::uint32_t checksum) {
    const uLong of_type = crc32(crc32(0, nullptr, 0), &type, 1);
    const uLong sum = crc32(of_type, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    if (type == full || type == first) record_.emplace();
    if (!record_) return;
    if (sum != checksum || record_->size() + data.size() > most_record) return record_.reset();
    record_->append(data);
    if (type == full || type == last) {
      add_record(*record_);
      record_.reset();
    }
  }

  void add_record(std::string_view record) {
    constexpr std::uint64_t output = 4;
    constexpr std::uint64_t output_raw = 13;
    constexpr std::uint64_t exit = 18;
    Fields fields(record);
    while (const auto field = fields.next()) {
      if (field->number == output || field->number == output_raw) add_output(field->bytes, field->number == output);
      if (field->number == exit) return add_exit(field->bytes);  // a record has one
    }
  }

  void add_output(std::string_view message, bool whole_line) {
    constexpr std::uint64_t line = 3;
    Fields fields(message);
    while (const auto field = fields.next()) {
      if (field->number != line) continue;
      text_ += field->bytes;
      if (whole_line && !field->bytes.ends_with('\n')) text_ += '\n';
    }
  }

  void add_exit(std::string_view message) {
    std::uint64_t code = 0;
    Fields fields(message);
    while (const auto field = fields.next())
      if (field->number == 1) code = field->value;
    text_ += "\nwandb: the run ended with exit code " + std::to_string(static_cast<std::int32_t>(code)) + "\n";
  }

  std::unique_ptr<ByteSource> file_;
  bool at_start_ = true;
  bool ended_ = false;
  std::optional<std::string> record_{};  // what has come of one
  std::string text_{};
  std::size_t used_ = 0;
};

}  // namespace

bool is_wandb_log(std::string_view begun) { return begun.starts_with(mark); }

std::unique_ptr<ByteSource> console_of_wandb(std::unique_ptr<ByteSource> file, std::string begun) {
  return std::make_unique<Console>(std::move(file), std::move(begun));
}

}  // namespace oomplan::read
