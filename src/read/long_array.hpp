// An array that grows to hundreds of megabytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace oomplan::read {

/// Grows by realloc, which moves pages instead of copying them, so that it never takes twice its room.
template <class T>
class LongArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LongArray() = default;
  LongArray(const LongArray&) = delete;
  LongArray& operator=(const LongArray&) = delete;
  LongArray(LongArray&& other) noexcept { *this = std::move(other); }
  LongArray& operator=(LongArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }
  ~LongArray() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  std::span<const T> part(std::size_t begin, std::size_t count) const { return {data_ + begin, count}; }
  std::span<const T> last(std::size_t count) const { return {data_ + size_ - count, count}; }

  void push_back(T value) {
    if (size_ == room_) grow(1);
    data_[size_++] = value;
  }
  void append(std::span<const T> values) {
    if (room_ - size_ < values.size()) grow(values.size());
    if (!values.empty()) std::memcpy(data_ + size_, values.data(), values.size_bytes());
    size_ += values.size();
  }
  /// Drops what is past `size`, which is at most the size.
  void cut(std::size_t size) { size_ = size; }

 private:
  void grow(std::size_t more) {
    const std::size_t room = size_ + more + size_ / 2 + 16;
    void* grown = std::realloc(static_cast<void*>(data_), room * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    room_ = room;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace oomplan::read
