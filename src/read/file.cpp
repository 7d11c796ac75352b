// Files from the disk. What is no plain file is refused before it is opened, so that no pipe or device can hang us.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "oomplan/document.hpp"
#include "oomplan/text.hpp"

namespace oomplan {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Diagnostic about(const std::string& path, std::string code, std::string message) {
  return {.code = std::move(code), .message = std::move(message), .where = {path}};
}

Diagnostic system_error(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG;
  if (missing) return about(path, "read/missing", "there is no such file");
  return about(path, "read/unreadable", "cannot be read: " + std::generic_category().message(error));
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

// The size that stat gives is only a hint: files in /proc say 0, and a log may grow meanwhile.
Result<std::string> contents(const std::string& path, const Descriptor& file, std::size_t most) {
  std::string out;
  while (out.size() <= most) {
    constexpr std::size_t step = std::size_t{1} << 16;
    const std::size_t before = out.size();
    out.resize(before + std::min(step, most - before + 1));
    const ssize_t got = ::read(file.number(), out.data() + before, out.size() - before);
    if (got < 0 && errno != EINTR) return system_error(path, errno);
    out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  return out;
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  if (path.find('\0') != std::string::npos) return system_error(path, ENOENT);
  struct stat before {};
  if (::stat(path.c_str(), &before) != 0) return system_error(path, errno);
  if (!S_ISREG(before.st_mode)) return not_a_file(path, before.st_mode);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return system_error(path, errno);
  struct stat opened {};  // it may have been replaced since
  if (::fstat(file.number(), &opened) != 0) return system_error(path, errno);
  if (!S_ISREG(opened.st_mode)) return not_a_file(path, opened.st_mode);
  return contents(path, file, most);
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Syntax syntax_of(const std::string& path, std::string_view text) {
  const std::string name = lower(path.substr(path.size() - std::min<std::size_t>(path.size(), 5)));
  if (name.ends_with(".toml")) return Syntax::toml;
  if (name.ends_with(".json")) return Syntax::json;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return Syntax::yaml;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? Syntax::json : Syntax::yaml;
}

}  // namespace

Result<Document> read_document(const std::string& path, const ReadBudget& budget) {
  Result<std::string> text = read_file(path, budget.bytes);
  if (!text) return text.errors();
  const Syntax syntax = syntax_of(path, *text);
  return parse_document(std::move(*text), path, syntax, budget);
}

}  // namespace oomplan
