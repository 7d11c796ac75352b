#include "applied.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "write_all.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = "\xEF\xBB\xBF";

Diagnostic refused(const std::string& file, std::string message) {
  return {.code = "cli/not-applied", .message = std::move(message), .where = {file, 0, 0}};
}

std::string bytes_of(const Document& document, const std::string& text) {
  return document.byte_order_mark ? std::string(mark) + text : text;
}

bool holds(const fs::path& path, const std::string& bytes) {
  std::ifstream file(path, std::ios::binary);
  return file && std::string(std::istreambuf_iterator<char>(file), {}) == bytes;
}

/// A rename needs no permission for the file itself, but its owner has said that it is not to be changed.
std::string objection(const fs::path& path, const Document& document, struct stat& status) {
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "this is no file that can be replaced";
  if ((status.st_mode & S_IWUSR) == 0 || access(path.c_str(), W_OK) != 0) return "the file is read-only";
  return holds(path, bytes_of(document, document.text)) ? "" : "the file is no longer as it was read";
}

/// A new file with `bytes` and the old one's mode, or why there is none.
std::string write_new(const fs::path& path, const std::string& bytes, mode_t mode) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return std::strerror(errno);
  const bool written = write_all(descriptor, bytes) && fchmod(descriptor, mode & 07777) == 0 && fsync(descriptor) == 0;
  const std::string why = written ? "" : std::strerror(errno);
  close(descriptor);
  if (!written) unlink(path.c_str());
  return why;
}

/// The first that is free, so that no earlier backup is lost.
fs::path backup_of(const fs::path& path) {
  std::error_code ignored;
  for (int i = 0;; ++i) {
    fs::path out = path;
    out += i == 0 ? std::string(".bak") : ".bak." + std::to_string(i);
    if (!fs::exists(fs::symlink_status(out, ignored))) return out;
  }
}

}  // namespace

Result<std::string> apply(const Document& document, const std::string& text) {
  std::error_code error;
  const fs::path path = fs::canonical(document.file, error);
  if (error) return refused(document.file, "only a file can be patched: " + error.message());
  struct stat status {};
  if (std::string why = objection(path, document, status); !why.empty()) return refused(document.file, std::move(why));
  const fs::path backup = backup_of(path);
  std::string why = write_new(backup, bytes_of(document, document.text), status.st_mode);
  if (!why.empty()) return refused(backup.string(), "the backup cannot be written: " + why);
  fs::path fresh = path;
  fresh += ".oomplan-" + std::to_string(getpid());
  why = write_new(fresh, bytes_of(document, text), status.st_mode);
  if (why.empty() && !holds(path, bytes_of(document, document.text))) why = "the file is no longer as it was read";
  if (why.empty() && rename(fresh.c_str(), path.c_str()) != 0) why = std::strerror(errno);
  if (why.empty()) return backup.string();
  unlink(fresh.c_str());
  unlink(backup.c_str());
  return refused(document.file, std::move(why));
}

}  // namespace oomplan::cli
