// Files that are opened only where they are plain files.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "oomplan/core/result.hpp"

namespace oomplan::read {

/// Closes what it holds; -1 holds nothing.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }

 private:
  int number_;
};

/// read/missing, read/not-a-file or read/unreadable where it cannot be opened.
Result<Descriptor> open_file(const std::string& path);

/// Why the system refused, by errno.
Diagnostic system_error(const std::string& path, int error);

}  // namespace oomplan::read
