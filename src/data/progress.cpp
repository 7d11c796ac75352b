#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "oomplan/core/text.hpp"

namespace oomplan::data {
namespace {

constexpr std::size_t width = 24;

std::string bar(double share) {
  if (share < 0) return {};
  const auto done = static_cast<std::size_t>(share * width);
  return fmt::format("[{}{}] {:3.0f} %  ", std::string(done, '='), std::string(width - done, ' '), 100 * share);
}

}  // namespace

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::int64_t rows, std::int64_t decoded) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::fputs(fmt::format("\r\033[K{}{} rows, {} decoded, {:.0f} MB/s", bar(share_), with_separators(rows),
                         to_text(Bytes(decoded)), static_cast<double>(decoded) / 1e6 / std::max(seconds, 1e-3))
                 .c_str(),
             stderr);
}

}  // namespace oomplan::data
