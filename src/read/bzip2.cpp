// The one file that knows libbz2: bzip2, several streams one after another too. Unpacking takes less than 4 MiB.
#include "byte_source.hpp"

#ifdef OOMPLAN_BZIP2
#include <bzlib.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace oomplan::read {
namespace {

class Unbzip2 final : public ByteSource {
 public:
  Unbzip2(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)), input_(std::size_t{64} << 10) {}
  ~Unbzip2() override { end(); }

  Result<std::size_t> read(char* out, std::size_t most) override {
    const std::size_t room = std::min<std::size_t>(most, 1 << 30);
    stream_.next_out = out;
    stream_.avail_out = static_cast<unsigned>(room);
    while (stream_.avail_out == room && !done_) {
      const Result<bool> more = refill(stream_, *packed_, input_);
      if (!more) return more.errors();
      if (Result<bool> stepped = step(*more); !stepped) {
        done_ = true;
        return stepped.errors();
      }
    }
    return room - stream_.avail_out;
  }

 private:
  void end() {
    if (inside_) BZ2_bzDecompressEnd(&stream_);
    inside_ = false;
  }

  Result<bool> step(bool has_input) {
    if (!has_input) {
      done_ = true;
      if (inside_) return cut_short(path_);
      return true;
    }
    if (!inside_ && BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) return broken(path_, "libbz2 cannot begin");
    inside_ = true;
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_STREAM_END) end();
    if (status != BZ_STREAM_END && status != BZ_OK) return broken(path_, "it is not as bzip2 writes it");
    return true;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::vector<char> input_;
  bz_stream stream_{};
  bool inside_ = false;  // a stream
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unbzip2ed(std::unique_ptr<ByteSource> packed, const std::string& path) {
  return std::make_unique<Unbzip2>(std::move(packed), path);
}

}  // namespace oomplan::read

#else

namespace oomplan::read {

std::unique_ptr<ByteSource> unbzip2ed(std::unique_ptr<ByteSource>, const std::string& path) {
  return refused(no_library(path, "bzip2"));
}

}  // namespace oomplan::read

#endif
