#include "applied.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "replace.hpp"

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

/// A rename needs no permission for the file itself, but its owner has said that it is not to be changed.
std::string objection(const fs::path& path, const Document& document) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "this is no file that can be replaced";
  if ((status.st_mode & S_IWUSR) == 0 || access(path.c_str(), W_OK) != 0) return "the file is read-only";
  return holds(path, bytes_of(document, document.text)) ? "" : "the file is no longer as it was read";
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
  if (std::string why = objection(path, document); !why.empty()) return refused(document.file, std::move(why));
  const std::string was = bytes_of(document, document.text);
  const fs::path backup = backup_of(path);
  std::string why = copy_like(backup, was, path);
  if (!why.empty()) return refused(backup.string(), "the backup cannot be written: " + why);
  why = replace_file(path, bytes_of(document, text), was);
  if (why.empty()) return backup.string();
  if (holds(path, was)) unlink(backup.c_str());  // else it alone has the old text
  return refused(document.file, std::move(why));
}

}  // namespace oomplan::cli
