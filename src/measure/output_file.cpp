#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace oomplan::measure {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Diagnostic exists(const std::string& path) {
  return {.code = "measure/output-exists",
          .message = "there is such a file already, and it stays as it is",
          .where = {path}};
}

}  // namespace

Diagnostic cannot_write(const std::string& path, int error) {
  return {.code = "measure/cannot-write",
          .message = std::string("cannot be written: ") + std::strerror(error),
          .where = {path}};
}

Result<int> nameless_file(const std::string& directory) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot_write(directory, errno);
  return descriptor;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return exists(path);
  const Result<int> descriptor = nameless_file(folder_of(path));
  if (!descriptor) return descriptor.errors();
  return OutputFile(path, *descriptor);
}

Result<bool> OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return cannot_write(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<bool> OutputFile::publish() {
  if (::fsync(descriptor_) != 0) return cannot_write(path_, errno);
  const std::string open_file = "/proc/self/fd/" + std::to_string(descriptor_);
  if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  return errno == EEXIST ? exists(path_) : cannot_write(path_, errno);
}

}  // namespace oomplan::measure
