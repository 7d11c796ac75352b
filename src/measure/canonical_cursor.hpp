// A walk through a row in the canonical form. It reads only what this stage wrote, so it trusts the bytes.
#pragma once

#include <cstring>
#include <string_view>

namespace oomplan::measure {

class CanonicalCursor {
 public:
  explicit CanonicalCursor(std::string_view in) : in_(in) {}

  bool at(char tag) const { return in_.front() == tag; }
  char tag() {
    const char out = in_.front();
    in_.remove_prefix(1);
    return out;
  }
  /// A number as it lies there.
  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, in_.data(), sizeof value);
    in_.remove_prefix(sizeof value);
    return value;
  }
  /// A length and so many bytes.
  std::string_view sized() {
    std::size_t length = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(tag());
      length |= static_cast<std::size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const std::string_view text = in_.substr(0, length);
    in_.remove_prefix(length);
    return text;
  }

 private:
  std::string_view in_;
};

}  // namespace oomplan::measure
