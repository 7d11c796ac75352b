// How far a file was read.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "oomplan/read/byte_source.hpp"

namespace oomplan::measure {

/// Adds up what is read from `bytes`.
class Counted final : public read::ByteSource {
 public:
  /// `count` outlives it.
  Counted(std::unique_ptr<read::ByteSource> bytes, std::int64_t& count) : bytes_(std::move(bytes)), count_(count) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    Result<std::size_t> got = bytes_->read(out, most);
    if (got) count_ += static_cast<std::int64_t>(*got);
    return got;
  }

 private:
  std::unique_ptr<read::ByteSource> bytes_;
  std::int64_t& count_;
};

}  // namespace oomplan::measure
