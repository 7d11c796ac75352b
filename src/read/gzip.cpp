// gzip, several members one after another too, as log rotation and `cat a.gz b.gz` leave them.
#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

#include "byte_source.hpp"

namespace oomplan::read {
namespace {

class Gunzip final : public ByteSource {
 public:
  Gunzip(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)), input_(std::size_t{64} << 10) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, gzip_only) == Z_OK;
  }
  ~Gunzip() override { inflateEnd(&stream_); }

  Result<std::size_t> read(char* out, std::size_t most) override {
    if (!ready_) return broken(path_, "zlib cannot begin");
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(most);
    while (stream_.avail_out == most && !done_) {
      const Result<bool> more = refill(stream_, *packed_, input_);
      if (!more) return more.errors();
      if (Result<bool> stepped = step(*more); !stepped) return stepped.errors();
    }
    return most - stream_.avail_out;
  }

 private:
  Result<bool> step(bool has_input) {
    if (between_ && has_input && *stream_.next_in != 0x1f) return padding();
    if (!has_input) {
      done_ = true;
      if (!between_) return cut_short(path_);
      return true;
    }
    between_ = false;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_ = true;
      inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      done_ = true;
      return broken(path_, stream_.msg != nullptr ? stream_.msg : "not gzip");
    }
    return true;
  }

  /// Zeros after the last member, as tapes have them; all else would be lost in silence.
  Result<bool> padding() {
    for (; stream_.avail_in > 0 && *stream_.next_in == 0; ++stream_.next_in) --stream_.avail_in;
    if (stream_.avail_in == 0 || *stream_.next_in == 0x1f) return true;
    done_ = true;
    return broken(path_, "what follows the last gzip member is none");
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::vector<Bytef> input_;
  z_stream stream_{};
  bool ready_ = false;
  bool between_ = false;  // after a member's end
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed, const std::string& path) {
  return std::make_unique<Gunzip>(std::move(packed), path);
}

}  // namespace oomplan::read
