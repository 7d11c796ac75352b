// A pickle's bytes, a piece at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "byte_source.hpp"

namespace oomplan::read {

/// Little-endian numbers and texts. What is not there reads as zero, and lacked() from then on.
class PickleInput {
 public:
  PickleInput(ByteSource& source, std::size_t longest)
      : source_(source), room_(longest + piece), buffer_(std::make_unique_for_overwrite<char[]>(room_)) {
    at_ = end_ = buffer_.get();
  }

  template <class Number>
  Number number() {
    static_assert(std::endian::native == std::endian::little);
    Number out = 0;
    const std::string_view bytes = take(sizeof out);
    if (!bytes.empty()) std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  /// Empty at the end; holds until the next read. `size` is at most the longest.
  std::string_view take(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size && !refill(size)) return {};
    const std::string_view out(at_, size);
    at_ += size;
    return out;
  }

  /// What is in memory already, and `size` of it done with.
  std::string_view at_hand() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void skip(std::size_t size) { at_ += size; }

  bool lacked() const { return lacked_; }
  const Diagnostics& errors() const { return errors_; }
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(at_ - buffer_.get()); }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 18;

  bool refill(std::size_t size) {
    const auto left = static_cast<std::size_t>(end_ - at_);
    before_ += static_cast<std::uint64_t>(at_ - buffer_.get());
    std::memmove(buffer_.get(), at_, left);
    at_ = buffer_.get();
    end_ = buffer_.get() + left;
    while (!ended_ && static_cast<std::size_t>(end_ - at_) < size) {
      const Result<std::size_t> got = source_.read(end_, room_ - static_cast<std::size_t>(end_ - at_));
      if (!got) errors_ = got.errors();
      ended_ = !got || *got == 0;
      if (got) end_ += *got;
    }
    lacked_ = static_cast<std::size_t>(end_ - at_) < size;
    return !lacked_;
  }

  ByteSource& source_;
  std::size_t room_;
  std::unique_ptr<char[]> buffer_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  std::uint64_t before_ = 0;
  bool ended_ = false;
  bool lacked_ = false;
  Diagnostics errors_{};
};

}  // namespace oomplan::read
