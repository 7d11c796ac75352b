#include "spill.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "output_file.hpp"

namespace oomplan::measure {
SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::int64_t> SpillFile::write(const void* bytes, std::size_t count) {
  if (descriptor_ < 0) {
    const Result<int> made = nameless_file(directory_);
    if (!made) return made.errors();
    descriptor_ = *made;
  }
  const std::int64_t begin = end_;
  for (const char* next = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t written = ::pwrite(descriptor_, next, count, end_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return cannot_write(directory_, written < 0 ? errno : ENOSPC);
    next += written;
    count -= static_cast<std::size_t>(written);
    end_ += written;
  }
  return begin;
}

Result<bool> SpillFile::read(std::int64_t offset, void* bytes, std::size_t count) {
  for (char* next = static_cast<char*>(bytes); count > 0;) {
    const ssize_t got = ::pread(descriptor_, next, count, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return cannot_write(directory_, got < 0 ? errno : EIO);
    next += got;
    count -= static_cast<std::size_t>(got);
    offset += got;
  }
  return true;
}

}  // namespace oomplan::measure
