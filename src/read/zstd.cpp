// The one file that knows zstd: several frames one after another too.
#include <zstd.h>

#include <string>
#include <utility>
#include <vector>

#include "byte_source.hpp"

namespace oomplan::read {
namespace {

class Unzstd final : public ByteSource {
 public:
  Unzstd(std::unique_ptr<ByteSource> packed, std::string path, int window_log)
      : packed_(std::move(packed)), path_(std::move(path)), input_(ZSTD_DStreamInSize()), context_(ZSTD_createDCtx()) {
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
      if (ZSTD_isError(left)) return failed(broken(path_, ZSTD_getErrorName(left)));
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

  Diagnostic failed(Diagnostic error) {
    done_ = true;
    return error;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
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
