#include "byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace oomplan::read {
namespace {

Diagnostic about(const std::string& path, std::string code, std::string message) {
  return {.code = std::move(code), .message = std::move(message), .where = {path}};
}

Diagnostic system_error(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) return about(path, "read/missing", "there is no such file");
  return about(path, "read/unreadable", "cannot be read: " + std::generic_category().message(error));
}

class Descriptor final : public ByteSource {
 public:
  Descriptor(int number, std::string path) : number_(number), path_(std::move(path)) {}
  ~Descriptor() override {
    if (number_ != STDIN_FILENO) ::close(number_);
  }
  Result<std::size_t> read(char* out, std::size_t most) override {
    while (true) {
      const ssize_t got = ::read(number_, out, most);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_error(path_, errno);
    }
  }

 private:
  int number_;
  std::string path_;
};

class PutBack final : public ByteSource {
 public:
  PutBack(std::unique_ptr<ByteSource> rest, std::string begun) : rest_(std::move(rest)), begun_(std::move(begun)) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    if (at_ == begun_.size()) return rest_->read(out, most);
    const std::size_t got = std::min(most, begun_.size() - at_);
    std::memcpy(out, begun_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string begun_;
  std::size_t at_ = 0;
};

}  // namespace

Diagnostic damaged(const std::string& path, const std::string& what) {
  return about(path, "read/damaged", "the compressed data " + what + "; what stands before that was read");
}

// A pipe is welcome here (`<(zcat …)`), so only a directory is refused before it is opened.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") return std::unique_ptr<ByteSource>(new Descriptor(STDIN_FILENO, "standard input"));
  if (path.find('\0') != std::string::npos) return system_error(path, ENOENT);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error(path, errno);
  if (S_ISDIR(status.st_mode)) return about(path, "read/not-a-file", "this is a directory, not a file");
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (number < 0) return system_error(path, errno);
  return std::unique_ptr<ByteSource>(new Descriptor(number, path));
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, std::string begun, const std::string& path) {
  const bool gzip = begun.starts_with("\x1f\x8b");
  const bool zstd = begun.starts_with("\x28\xb5\x2f\xfd");
  auto whole = std::make_unique<PutBack>(std::move(packed), std::move(begun));
  if (gzip) return gunzipped(std::move(whole), path);
  if (zstd) return unzstded(std::move(whole), path);
  return whole;
}

}  // namespace oomplan::read
