// What is no plain file is refused before it is opened, so that no pipe or device can hang us.
#include "descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace oomplan::read {
namespace {

Diagnostic about(const std::string& path, std::string code, std::string message) {
  return {.code = std::move(code), .message = std::move(message), .where = {path}};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Diagnostic not_a_file(const std::string& path, mode_t mode) {
  return about(path, "read/not-a-file", "this is " + std::string(kind_of(mode)) + ", not a file");
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Diagnostic system_error(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
  if (missing) return about(path, "read/missing", "there is no such file");
  return about(path, "read/unreadable", "cannot be read: " + std::generic_category().message(error));
}

Result<Descriptor> open_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) return system_error(path, ENOENT);
  struct stat before {};
  if (::stat(path.c_str(), &before) != 0) return system_error(path, errno);
  if (!S_ISREG(before.st_mode)) return not_a_file(path, before.st_mode);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return system_error(path, errno);
  struct stat opened {};  // it may have been replaced since
  if (::fstat(file.number(), &opened) != 0) return system_error(path, errno);
  if (!S_ISREG(opened.st_mode)) return not_a_file(path, opened.st_mode);
  return file;
}

}  // namespace oomplan::read
