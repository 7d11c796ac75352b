// Sizes or strides of a tensor, without a heap allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "oomplan/core/bytes.hpp"

namespace oomplan::estimator {

class Dims {
 public:
  static constexpr int capacity = 6;

  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t v : values) push(v);
  }

  int size() const { return size_; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t back(int from_end = 0) const { return (*this)[size_ - 1 - from_end]; }
  void push(std::int64_t v) {
    assert(size_ < capacity);
    values_[static_cast<std::size_t>(size_++)] = v;
  }
  void insert(int at, std::int64_t v) {
    assert(size_ < capacity);
    for (int i = size_++; i > at; --i) (*this)[i] = (*this)[i - 1];
    (*this)[at] = v;
  }
  void erase(int at) {
    for (int i = at; i + 1 < size_; ++i) (*this)[i] = (*this)[i + 1];
    --size_;
  }
  void swap(int a, int b) { std::swap((*this)[a], (*this)[b]); }
  /// How many elements; saturates.
  std::int64_t product() const {
    std::int64_t n = 1;
    for (int i = 0; i < size_; ++i) n = saturating_mul(n, (*this)[i]);
    return n;
  }
  std::span<const std::int64_t> span() const { return {values_.data(), static_cast<std::size_t>(size_)}; }
  friend bool operator==(const Dims& a, const Dims& b) {
    return a.size_ == b.size_ && std::equal(a.span().begin(), a.span().end(), b.span().begin());
  }

 private:
  std::array<std::int64_t, capacity> values_{};
  int size_ = 0;
};

}  // namespace oomplan::estimator
