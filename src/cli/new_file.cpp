#include "new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace oomplan::cli {
namespace {

Diagnostic not_written(const std::string& path, int error) {
  Diagnostic out{.code = "cli/not-written",
                 .message = std::string("cannot be written: ") + std::strerror(error),
                 .where = {path, 0, 0}};
  if (error == EEXIST) out.hint = "nothing is overwritten; name a file that does not exist yet";
  return out;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return not_written(path, errno);
  return NewFile(path, descriptor);
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      empty_(other.empty_) {}

NewFile::~NewFile() {
  if (descriptor_ < 0) return;
  if (empty_) unlink(path_.c_str());
  close(descriptor_);
}

void NewFile::write(std::string_view text) {
  while (error_ == 0 && !text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) error_ = errno;
    empty_ = empty_ && written <= 0;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Diagnostics NewFile::problems() const { return error_ == 0 ? Diagnostics{} : Diagnostics{not_written(path_, error_)}; }

}  // namespace oomplan::cli
