#include "replace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "write_all.hpp"

namespace oomplan::cli {
namespace {

/// Closes itself.
class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

bool write_from_start(int file, std::string_view bytes) {
  return lseek(file, 0, SEEK_SET) == 0 && write_all(file, bytes) &&
         ftruncate(file, static_cast<off_t>(bytes.size())) == 0 && fsync(file) == 0;
}

/// The file itself, so that all its names lead to the new text.
std::string write_in_place(const std::string& path, std::string_view bytes, std::string_view was) {
  const File file(path, O_WRONLY);
  if (!file.is_open()) return std::strerror(errno);
  if (write_from_start(file.number(), bytes)) return "";
  const std::string why = std::strerror(errno);
  if (write_from_start(file.number(), was)) return why;
  return why + ", and it could not be put back as it was: " + std::strerror(errno);
}

enum class Made { no, like_the_old, without_its_attributes };

Made make(const std::string& path, std::string_view bytes, const std::string& like) {
  const File old(like, O_RDONLY);
  if (!old.is_open()) return Made::no;
  const File fresh(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!fresh.is_open()) return Made::no;
  const bool alike = give_attributes(old.number(), fresh.number());
  if (write_all(fresh.number(), bytes) && fsync(fresh.number()) == 0)
    return alike ? Made::like_the_old : Made::without_its_attributes;
  const int error = errno;
  unlink(path.c_str());
  errno = error;
  return Made::no;
}

bool has_more_names(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && status.st_nlink > 1;
}

constexpr const char* changed = "the file is no longer as it was read";

}  // namespace

bool holds(const std::string& path, std::string_view bytes) {
  const File file(path, O_RDONLY);
  std::string found(bytes.size() + 1, '\0');
  std::size_t size = 0;
  while (file.is_open() && size < found.size()) {
    const ssize_t got = read(file.number(), found.data() + size, found.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return file.is_open() && std::string_view(found).substr(0, size) == bytes;
}

std::string copy_like(const std::string& path, std::string_view bytes, const std::string& like) {
  return make(path, bytes, like) == Made::no ? std::strerror(errno) : "";
}

std::string replace_file(const std::string& path, std::string_view bytes, std::string_view was) {
  const std::string fresh = path + ".oomplan-" + std::to_string(getpid());
  const Made made = has_more_names(path) ? Made::without_its_attributes : make(fresh, bytes, path);
  if (made == Made::no) return std::strerror(errno);
  std::string why = holds(path, was) ? "" : changed;
  if (why.empty() && made == Made::like_the_old && rename(fresh.c_str(), path.c_str()) == 0) return "";
  if (why.empty()) why = write_in_place(path, bytes, was);  // a mount, a folder in which only owners may rename
  unlink(fresh.c_str());
  return why;
}

}  // namespace oomplan::cli
