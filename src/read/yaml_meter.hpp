// The stream that yaml-cpp reads from. It reads a flow collection to its end before it tells of its beginning, so 8 MiB
// of "[" were two gigabytes of tokens before any budget could be asked. The stream ends where that gets out of hand.
#pragma once

#include <cstddef>
#include <streambuf>
#include <string_view>

namespace oomplan::read {

class YamlMeter : public std::streambuf {
 public:
  /// At most `most` characters that make tokens (brackets, commas, colons ...) may pass between two calls of `event`.
  YamlMeter(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  void event() { passed_ = 0; }
  /// The stream ended early; what was parsed is not the text.
  bool exceeded() const { return exceeded_; }

 protected:
  int_type underflow() override;

 private:
  std::string_view text_;
  std::size_t most_;
  std::size_t next_ = 0;
  std::size_t passed_ = 0;
  bool exceeded_ = false;
};

}  // namespace oomplan::read
