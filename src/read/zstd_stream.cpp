// The one file that knows zstd.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "byte_stream.hpp"

namespace oomplan::read {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16;

struct Free {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class Unpacked : public ByteStream {
 public:
  Unpacked(std::unique_ptr<ByteStream> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), buffer_(piece) {}

  Result<std::size_t> fill(std::span<char> room) override {
    if (!looked_) {
      const Diagnostics errors = look();
      if (!errors.empty()) return errors;
    }
    return stream_ ? unpack(room) : plain(room);
  }

 private:
  Diagnostic error(std::string code, std::string message) const {
    return {.code = std::move(code), .message = std::move(message), .where = {name_}};
  }

  Diagnostics refill() {
    const Result<std::size_t> got = packed_->fill(std::span(buffer_).subspan(end_));
    if (!got) return got.errors();
    end_ += *got;
    ended_ = *got == 0;
    return {};
  }

  /// The first four bytes say whether the data is packed; a pipe may bring them one by one.
  Diagnostics look() {
    constexpr std::array<unsigned char, 4> magic{0x28, 0xB5, 0x2F, 0xFD};
    while (end_ < magic.size() && !ended_) {
      Diagnostics errors = refill();
      if (!errors.empty()) return errors;
    }
    looked_ = true;
    bool packed = end_ >= magic.size();
    for (std::size_t i = 0; packed && i < magic.size(); ++i) {
      packed = static_cast<unsigned char>(buffer_[i]) == magic[i];
    }
    if (packed) stream_.reset(ZSTD_createDStream());
    return {};
  }

  Result<std::size_t> plain(std::span<char> room) {
    if (begin_ == end_) return packed_->fill(room);
    const std::size_t count = std::min(room.size(), end_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, room.data());
    begin_ += count;
    return count;
  }

  Result<std::size_t> unpack(std::span<char> room) {
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    while (out.pos == 0) {
      if (begin_ == end_ && !ended_) {
        begin_ = end_ = 0;
        const Diagnostics errors = refill();
        if (!errors.empty()) return errors;
      }
      ZSTD_inBuffer in{buffer_.data(), end_, begin_};
      const bool last = begin_ == end_;
      if (last && expected_ == 0) return std::size_t{0};
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(status) != 0) {
        return error("read/damaged", std::string("the compressed data is broken: ") + ZSTD_getErrorName(status));
      }
      begin_ = in.pos;
      expected_ = status;
      if (last && out.pos == 0) return error("read/truncated", "the file ends within the compressed data");
    }
    return out.pos;
  }

  std::unique_ptr<ByteStream> packed_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool looked_ = false;
  bool ended_ = false;
  std::unique_ptr<ZSTD_DStream, Free> stream_{};
  std::size_t expected_ = 0;  // 0 between frames
};

}  // namespace

std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> packed, std::string name) {
  return std::make_unique<Unpacked>(std::move(packed), std::move(name));
}

}  // namespace oomplan::read
