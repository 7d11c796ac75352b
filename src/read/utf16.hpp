// UTF-16 to UTF-8, chunk by chunk.
#pragma once

#include <string>
#include <string_view>

namespace oomplan::read {

class Utf16 {
 public:
  explicit Utf16(bool big_endian) : big_endian_(big_endian) {}
  /// The UTF-8 of `bytes`; half a unit at the end waits for the next chunk. A lone surrogate becomes U+FFFD.
  std::string to_utf8(std::string_view bytes);

 private:
  void put(unsigned unit, std::string& out);
  bool big_endian_;
  std::string half_{};
  unsigned high_ = 0;  // a high surrogate that waits for its low one
};

}  // namespace oomplan::read
