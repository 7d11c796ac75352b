// The one file that knows liblzma: xz, several streams one after another and padding between them too.
#include "byte_source.hpp"

#ifdef OOMPLAN_XZ
#include <lzma.h>

#include <string>
#include <utility>
#include <vector>

namespace oomplan::read {
namespace {

class Unxz final : public ByteSource {
 public:
  Unxz(std::unique_ptr<ByteSource> packed, std::string path, std::int64_t room)
      : packed_(std::move(packed)), path_(std::move(path)), room_(room), input_(std::size_t{64} << 10) {
    ready_ = lzma_stream_decoder(&stream_, static_cast<std::uint64_t>(room), LZMA_CONCATENATED) == LZMA_OK;
  }
  ~Unxz() override { lzma_end(&stream_); }

  Result<std::size_t> read(char* out, std::size_t most) override {
    if (!ready_) return broken(path_, "liblzma cannot begin");
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = most;
    while (stream_.avail_out == most && !done_) {
      const Result<bool> more = refill(stream_, *packed_, input_);
      if (!more) return more.errors();
      const lzma_ret status = lzma_code(&stream_, *more ? LZMA_RUN : LZMA_FINISH);
      done_ = status != LZMA_OK;
      if (done_ && status != LZMA_STREAM_END) return failed(status);
    }
    return most - stream_.avail_out;
  }

 private:
  Diagnostic failed(lzma_ret status) const {
    switch (status) {
      case LZMA_BUF_ERROR:
        return cut_short(path_);
      case LZMA_MEMLIMIT_ERROR:
        return needs_memory(path_, static_cast<std::int64_t>(lzma_memusage(&stream_)), room_);
      case LZMA_OPTIONS_ERROR:
        return broken(path_, "it has options that liblzma does not know");
      default:
        return broken(path_, "it is not as xz writes it");
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::int64_t room_;
  std::vector<std::uint8_t> input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unxzed(std::unique_ptr<ByteSource> packed, const std::string& path, std::int64_t room) {
  return std::make_unique<Unxz>(std::move(packed), path, room);
}

}  // namespace oomplan::read

#else

namespace oomplan::read {

std::unique_ptr<ByteSource> unxzed(std::unique_ptr<ByteSource>, const std::string& path, std::int64_t) {
  return refused(no_library(path, "xz"));
}

}  // namespace oomplan::read

#endif
