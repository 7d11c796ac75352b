// Bytes that grow at their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace oomplan::measure {

/// As std::string, but for many small pieces: appending one is inline, and new memory is not filled first.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(ByteBuffer other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ByteBuffer(ByteBuffer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ~ByteBuffer() { std::free(bytes_); }

  void put(char byte) { *more(1) = byte; }
  void put(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(more(bytes.size()), bytes.data(), bytes.size());
  }
  template <class T>
  void put_raw(char tag, T value) {
    char* place = more(1 + sizeof value);
    *place = tag;
    std::memcpy(place + 1, &value, sizeof value);
  }
  std::size_t size() const { return size_; }
  std::string_view view(std::size_t begin = 0) const { return {bytes_ + begin, size_ - begin}; }
  /// Back to `size` bytes, of those that are there.
  void cut(std::size_t size) { size_ = size; }

 private:
  /// The place of the next `count` bytes, which count from now on. Throws std::bad_alloc.
  char* more(std::size_t count) {
    if (count > capacity_ - size_) grow(count);
    return bytes_ + std::exchange(size_, size_ + count);
  }
  void grow(std::size_t count) {
    const std::size_t capacity = capacity_ + std::max({capacity_, count, std::size_t{512}});
    void* bytes = std::realloc(bytes_, capacity);
    if (bytes == nullptr) throw std::bad_alloc();
    bytes_ = static_cast<char*>(bytes);
    capacity_ = capacity;
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace oomplan::measure
