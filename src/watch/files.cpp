#include "files.hpp"

#include <fcntl.h>

#include <array>
#include <charconv>

#include "descriptor.hpp"

namespace oomplan::watching {
namespace {

std::optional<std::int64_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string text_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16384> buffer{};
  std::size_t size = 0;
  while (file.is_open() && size < buffer.size()) {
    const ssize_t got = read(file.get(), buffer.data() + size, buffer.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  return {buffer.data(), size};
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(key) && line.size() > key.size() && (line[key.size()] == ' ' || line[key.size()] == '\t'))
      return leading_number(line.substr(key.size()));
    at += line.size() + 1;
  }
  return std::nullopt;
}

std::optional<std::int64_t> number_in(const std::string& path) { return leading_number(text_of(path)); }

}  // namespace oomplan::watching
