#include "byte_stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace oomplan::read {
namespace {

class OfDescriptor : public ByteStream {
 public:
  OfDescriptor(int number, Descriptor owned, std::string name)
      : number_(number), owned_(std::move(owned)), name_(std::move(name)) {}

  Result<std::size_t> fill(std::span<char> room) override {
    while (true) {
      const ssize_t got = ::read(number_, room.data(), room.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_error(name_, errno);
    }
  }

 private:
  int number_;
  Descriptor owned_;
  std::string name_;
};

class OfMemory : public ByteStream {
 public:
  explicit OfMemory(std::string_view rest) : rest_(rest) {}

  Result<std::size_t> fill(std::span<char> room) override {
    const std::size_t count = std::min(room.size(), rest_.size());
    std::copy_n(rest_.data(), count, room.data());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::unique_ptr<ByteStream> stream_of(int descriptor, Descriptor owned, std::string name) {
  return std::make_unique<OfDescriptor>(descriptor, std::move(owned), std::move(name));
}

std::unique_ptr<ByteStream> stream_of(std::string_view bytes) { return std::make_unique<OfMemory>(bytes); }

}  // namespace oomplan::read
