// memrchr, which not every system's C library has.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace oomplan {

/// Where the last `wanted` in `text` is; npos where there is none.
inline std::size_t last_byte(std::string_view text, char wanted) {
#ifdef __APPLE__
  return text.rfind(wanted);
#else
  const void* const found = text.empty() ? nullptr : ::memrchr(text.data(), wanted, text.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
#endif
}

}  // namespace oomplan
