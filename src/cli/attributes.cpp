#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replace.hpp"

namespace oomplan::cli {
namespace {

#ifdef __APPLE__
// There each call has options, and a value may be read from its middle on. Access control lists are not among them.
ssize_t list_of(int file, char* names, std::size_t room) { return ::flistxattr(file, names, room, 0); }
ssize_t value_in(int file, const char* name, char* value, std::size_t room) {
  return ::fgetxattr(file, name, value, room, 0, 0);
}
bool set_value(int file, const char* name, const std::string& value) {
  return ::fsetxattr(file, name, value.data(), value.size(), 0, 0) == 0;
}
bool remove_value(int file, const char* name) { return ::fremovexattr(file, name, 0) == 0; }
#else
ssize_t list_of(int file, char* names, std::size_t room) { return ::flistxattr(file, names, room); }
ssize_t value_in(int file, const char* name, char* value, std::size_t room) {
  return ::fgetxattr(file, name, value, room);
}
bool set_value(int file, const char* name, const std::string& value) {
  return ::fsetxattr(file, name, value.data(), value.size(), 0) == 0;
}
bool remove_value(int file, const char* name) { return ::fremovexattr(file, name) == 0; }
#endif

// What the kernel says of the contents, and would be wrong of others.
constexpr std::array<std::string_view, 3> of_contents{"security.ima", "security.evm", "security.capability"};

std::vector<std::string> names_of(int file) {
  const ssize_t room = list_of(file, nullptr, 0);
  std::string all(static_cast<std::size_t>(std::max<ssize_t>(room, 0)), '\0');
  const ssize_t size = room > 0 ? list_of(file, all.data(), all.size()) : 0;
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < all.size(); at += out.back().size() + 1) out.emplace_back(all.c_str() + at);
  std::erase_if(out, [](const std::string& name) { return std::ranges::count(of_contents, name) > 0; });
  return out;
}

std::optional<std::string> value_of(int file, const std::string& name) {
  const ssize_t room = value_in(file, name.c_str(), nullptr, 0);
  if (room < 0) return std::nullopt;
  std::string value(static_cast<std::size_t>(room), '\0');
  const ssize_t size = value_in(file, name.c_str(), value.data(), value.size());
  if (size != room) return std::nullopt;
  return value;
}

bool give_one(int from, int to, const std::string& name) {
  const std::optional<std::string> value = value_of(from, name);
  if (!value) return false;
  return value_of(to, name) == value || set_value(to, name.c_str(), *value);
}

/// What the folder gives to each new file (a default ACL) goes, where the old file was without it.
bool give_extended(int from, int to) {
  const std::vector<std::string> wanted = names_of(from);
  bool all = true;
  for (const std::string& name : names_of(to))
    if (std::ranges::count(wanted, name) == 0) all = remove_value(to, name.c_str()) && all;
  for (const std::string& name : wanted) all = give_one(from, to, name) && all;
  return all;
}

}  // namespace

bool give_attributes(int from, int to) {
  struct stat status {};
  if (fstat(from, &status) != 0) return false;
  const bool owned = fchown(to, status.st_uid, status.st_gid) == 0;
  const bool extended = owned && give_extended(from, to);
  const mode_t mode = status.st_mode & (owned ? 07777 : 0700);  // after fchown, which takes the set-ID bits
  return fchmod(to, mode) == 0 && extended;
}

}  // namespace oomplan::cli
