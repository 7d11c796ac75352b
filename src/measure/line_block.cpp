#include "line_block.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace oomplan::measure {
namespace {

Diagnostic unreadable(const std::string& path, int error) {
  return {.code = error == ENOENT ? "read/missing" : "read/unreadable",
          .message = std::string("cannot be read: ") + std::strerror(error),
          .where = {path}};
}

class Lines final : public read::ByteSource {
 public:
  Lines(std::string path, const Part& part, int file)
      : path_(std::move(path)), part_(part), file_(file), at_(part.begin) {}
  ~Lines() override { ::close(file_); }

  Result<std::size_t> read(char* out, std::size_t most) override {
    if (!begun_) {
      if (Result<bool> found = find_begin(out, most); !found) return found.errors();
    }
    if (done_) return std::size_t{0};
    const Result<std::size_t> got = piece(out, most);
    if (!got) return got.errors();
    return up_to_end({out, *got});
  }

 private:
  /// A line begins where the byte before ends one.
  Result<bool> find_begin(char* buffer, std::size_t most) {
    begun_ = true;
    if (part_.begin == 0) return true;
    for (--at_; at_ < part_.end;) {
      const Result<std::size_t> got = piece(buffer, most);
      if (!got) return got.errors();
      const std::size_t end = std::string_view(buffer, *got).find('\n');
      at_ += static_cast<std::int64_t>(end == std::string_view::npos ? *got : end + 1);
      if (end != std::string_view::npos) break;
      if (*got == 0) at_ = part_.end;
    }
    done_ = at_ >= part_.end;
    return true;
  }

  /// The last line is the one that holds the part's last byte.
  std::size_t up_to_end(std::string_view bytes) {
    const auto length = static_cast<std::int64_t>(bytes.size());
    const std::int64_t last = std::max<std::int64_t>(part_.end - 1 - at_, 0);
    const std::size_t end = last < length ? bytes.find('\n', static_cast<std::size_t>(last)) : std::string_view::npos;
    at_ += length;
    done_ = end != std::string_view::npos || bytes.empty();
    return done_ && !bytes.empty() ? end + 1 : bytes.size();
  }

  Result<std::size_t> piece(char* out, std::size_t most) const {
    while (true) {
      const ssize_t got = ::pread(file_, out, most, at_);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return unreadable(path_, errno);
    }
  }

  std::string path_;
  Part part_;
  int file_;
  std::int64_t at_;
  bool begun_ = false;
  bool done_ = false;
};

}  // namespace

Result<std::unique_ptr<read::ByteSource>> lines_of(const std::string& path, const Part& part) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return unreadable(path, errno);
  return std::unique_ptr<read::ByteSource>(std::make_unique<Lines>(path, part, file));
}

}  // namespace oomplan::measure
