#include "wandb_log.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "little_endian.hpp"
#include "protobuf.hpp"

namespace oomplan::read {
namespace {

constexpr std::string_view mark(":W&B\xE1\xBE\0", 7);
constexpr std::size_t block_size = 32768;
constexpr std::size_t header_size = 7;
constexpr std::size_t most_record = std::size_t{1} << 20;

enum ChunkType : unsigned char { full = 1, first = 2, middle = 3, last = 4 };

class Console : public ByteSource {
 public:
  Console(std::unique_ptr<ByteSource> file, std::string begun, WandbPart part)
      : file_(put_back(std::move(file), std::move(begun))), part_(part) {}

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
      const std::uint64_t checksum = little_endian(rest.substr(0, 4));
      const std::size_t length = little_endian(rest.substr(4, 2));
      const auto type = static_cast<unsigned char>(rest[6]);
      rest.remove_prefix(header_size);
      if (length > rest.size()) break;
      add_chunk(type, rest.substr(0, length), checksum);
      rest.remove_prefix(length);
    }
    return block->size() == block_size;
  }

  void add_chunk(unsigned char type, std::string_view data, std::uint64_t checksum) {
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
    ProtobufFields fields(record);
    while (const auto field = fields.next()) {
      if (field->number == output || field->number == output_raw) add_output(field->bytes, field->number == output);
      if (field->number == exit) return add_exit(field->bytes);  // a record has one
    }
  }

  void add_output(std::string_view message, bool whole_line) {
    if (part_ == WandbPart::ending) return;
    constexpr std::uint64_t line = 3;
    ProtobufFields fields(message);
    while (const auto field = fields.next()) {
      if (field->number != line) continue;
      text_ += field->bytes;
      if (whole_line && !field->bytes.ends_with('\n')) text_ += '\n';
    }
  }

  void add_exit(std::string_view message) {
    std::uint64_t code = 0;
    ProtobufFields fields(message);
    while (const auto field = fields.next())
      if (field->number == 1) code = field->value;
    if (part_ == WandbPart::all) text_ += '\n';  // the last line that was printed may lack its end
    text_ += "wandb: the run ended with exit code " + std::to_string(static_cast<std::int32_t>(code)) + "\n";
  }

  std::unique_ptr<ByteSource> file_;
  WandbPart part_;
  bool at_start_ = true;
  bool ended_ = false;
  std::optional<std::string> record_{};  // what has come of one
  std::string text_{};
  std::size_t used_ = 0;
};

}  // namespace

bool is_wandb_log(std::string_view begun) { return begun.starts_with(mark); }

std::unique_ptr<ByteSource> console_of_wandb(std::unique_ptr<ByteSource> file, std::string begun, WandbPart part) {
  return std::make_unique<Console>(std::move(file), std::move(begun), part);
}

}  // namespace oomplan::read
