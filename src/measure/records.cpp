#include "records.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "oomplan/core/text.hpp"
#include "room.hpp"

namespace oomplan::measure {
namespace {

constexpr std::size_t step = std::size_t{256} << 10;

}  // namespace

Records::Records(std::unique_ptr<read::ByteSource> bytes, std::string path, std::int64_t most, Boundary& boundary,
                 std::int64_t first)
    : bytes_(std::move(bytes)),
      path_(std::move(path)),
      most_(std::max(static_cast<std::size_t>(most), step)),
      boundary_(boundary),
      next_number_(first) {}

// realloc moves pages of a large block instead of copying them, so a long record is in memory once.
Result<bool> Records::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (capacity_ - end_ < step) {
    capacity_ = std::max(std::min(2 * capacity_, most_ + step), end_ + step);
    char* const larger = static_cast<char*>(std::realloc(buffer_.get(), capacity_ + padding));
    if (larger == nullptr) throw std::bad_alloc();
    static_cast<void>(buffer_.release());
    buffer_.reset(larger);
  }
  const Result<std::size_t> got = bytes_->read(buffer_.get() + end_, capacity_ - end_);
  if (!got) return got.errors();
  end_ += *got;
  std::memset(buffer_.get() + end_, 0, padding);
  at_end_ = *got == 0;
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (!marked_ && (end_ >= mark.size() || at_end_)) {
    marked_ = true;
    if (std::string_view(buffer_.get(), end_).starts_with(mark)) begin_ = mark.size(), offset_ = 3;
  }
  return !at_end_;
}

Record Records::refuse(std::int64_t length, char end) {
  const std::string what = "row " + with_separators(next_number_) + ", " + with_separators(length) +
                           " bytes from byte " + with_separators(offset_) + " on,";
  refused_ = over_budget({path_}, what, length, static_cast<std::int64_t>(most_));
  return {{}, next_number_, offset_, end, &*refused_};
}

/// Reads on to the end of the record, keeping its last byte alone: so the message can say what would be needed, and the
/// next record follows.
Result<Record> Records::pass_over() {
  std::string_view text(buffer_.get() + begin_, end_ - begin_);
  std::size_t dropped = 0;
  std::size_t found = std::string_view::npos;
  while (found == std::string_view::npos && !at_end_) {
    dropped += text.size() - 1;
    boundary_.drop(text.size() - 1);
    buffer_[0] = text.back();
    const Result<std::size_t> got = bytes_->read(buffer_.get() + 1, step);
    if (!got) return got.errors();
    at_end_ = *got == 0;
    text = {buffer_.get(), *got + 1};
    found = boundary_.end_of(text, 1);
  }
  const bool whole = found != std::string_view::npos;
  const auto length = static_cast<std::int64_t>(dropped + (whole ? found : text.size()));
  const Record record = refuse(length, whole ? text[found] : '\0');
  end_ = text.size();
  begin_ = whole ? found + 1 : end_;
  offset_ += length + (whole ? 1 : 0);
  ++next_number_;
  std::memset(buffer_.get() + end_, 0, padding);
  return record;
}

Result<std::optional<Record>> Records::next() {
  boundary_.reset();
  std::size_t looked = 0;
  while (true) {
    const std::string_view text(buffer_.get() + begin_, end_ - begin_);
    const std::size_t found = marked_ ? boundary_.end_of(text, looked) : std::string_view::npos;
    const bool whole = found != std::string_view::npos;
    if (whole || (at_end_ && !text.empty())) {
      const std::size_t length = whole ? found : text.size();
      const char end = whole ? text[found] : '\0';
      const Record record = length > most_ ? refuse(static_cast<std::int64_t>(length), end)
                                           : Record{text.substr(0, length), next_number_, offset_, end, nullptr};
      begin_ += length + (whole ? 1 : 0);
      offset_ += static_cast<std::int64_t>(length + (whole ? 1 : 0));
      ++next_number_;
      return std::optional<Record>(record);
    }
    if (at_end_) return std::optional<Record>();
    if (text.size() > most_) {
      Result<Record> passed = pass_over();
      if (!passed) return passed.errors();
      return std::optional<Record>(*passed);
    }
    looked = marked_ ? text.size() : 0;
    if (Result<bool> more = refill(); !more) return more.errors();
  }
}

Result<char> Records::next_byte() {
  while (true) {
    for (; marked_ && begin_ < end_; ++begin_, ++offset_) {
      const char c = buffer_.get()[begin_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
      ++begin_, ++offset_;
      return c;
    }
    if (at_end_) return '\0';
    if (Result<bool> more = refill(); !more) return more.errors();
  }
}

}  // namespace oomplan::measure
