// The one file that knows zstd: several frames one after another too.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::read {
namespace {

constexpr std::size_t longest_header = 18;

/// The window that a frame which begins like this asks for (RFC 8878, 3.1.1.1); 0 where it does not say.
std::uint64_t window_of(std::string_view frame) {
  const auto byte = [&](std::size_t at) -> std::uint64_t {
    return at < frame.size() ? static_cast<unsigned char>(frame[at]) : 0;
  };
  const std::uint64_t descriptor = byte(4);
  const bool single_segment = (descriptor & 0x20) != 0;
  if (!single_segment) {
    const std::uint64_t base = std::uint64_t{1} << (10 + (byte(5) >> 3));
    return base + base / 8 * (byte(5) & 7);
  }
  constexpr std::size_t lengths_of_id[] = {0, 1, 2, 4};
  const std::size_t begin = 5 + lengths_of_id[descriptor & 3];
  const std::size_t length = std::size_t{1} << (descriptor >> 6);
  std::uint64_t size = length == 2 ? 256 : 0;
  for (std::size_t i = 0; i < length; ++i) size += byte(begin + i) << (8 * i);
  return size;
}

class Unzstd final : public ByteSource {
 public:
  Unzstd(std::unique_ptr<ByteSource> packed, std::string path, int window_log)
      : packed_(std::move(packed)),
        path_(std::move(path)),
        window_log_(window_log),
        input_(ZSTD_DStreamInSize()),
        context_(ZSTD_createDCtx()) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_log);
  }
  ~Unzstd() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> read(char* out, std::size_t most) override {
    ZSTD_outBuffer to{out, most, 0};
    while (to.pos == 0 && !done_) {
      if (Result<bool> more = refill(); !more) return more.errors();
      const bool at_end = from_.size == 0;
      const std::size_t before = from_.pos;
      const std::size_t left = ZSTD_decompressStream(context_, &to, &from_);
      keep_header(before, ZSTD_isError(left) ? from_.size : from_.pos);
      if (ZSTD_isError(left)) return failed(why(left));
      if (left == 0) header_.clear();
      const bool stuck = to.pos == 0 && from_.pos == before;
      if (at_end && stuck) {
        done_ = true;
        if (unfinished_) return failed(cut_short(path_));
      }
      if (!stuck) unfinished_ = left != 0;
    }
    return to.pos;
  }

 private:
  Result<bool> refill() {
    if (from_.pos < from_.size) return true;
    const Result<std::size_t> got = packed_->read(input_.data(), input_.size());
    if (!got) return got.errors();
    from_ = {input_.data(), *got, 0};
    return *got > 0;
  }

  /// The first bytes of the frame at hand, which may come in pieces.
  void keep_header(std::size_t begin, std::size_t end) {
    const std::size_t count = std::min(end - begin, longest_header - header_.size());
    header_.append(static_cast<const char*>(from_.src) + begin, count);
  }

  Diagnostic why(std::size_t error) const {
    if (ZSTD_getErrorCode(error) != ZSTD_error_frameParameter_windowTooLarge)
      return broken(path_, ZSTD_getErrorName(error));
    const auto needed = static_cast<std::int64_t>(std::min<std::uint64_t>(window_of(header_), INT64_MAX));
    return needs_memory(path_, needed, std::int64_t{1} << window_log_);
  }

  Diagnostic failed(Diagnostic error) {
    done_ = true;
    return error;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  int window_log_;
  std::string header_{};
  std::vector<char> input_;
  ZSTD_DCtx* context_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  bool unfinished_ = false;  // inside a frame
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed, const std::string& path, int window_log) {
  return std::make_unique<Unzstd>(std::move(packed), path, window_log);
}

}  // namespace oomplan::read
