// A stream of bytes cut into records, with one buffer that grows only for a long record, and only so far.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"
#include "oomplan/read/byte_source.hpp"

namespace oomplan::measure {

/// One record without its end. The view holds until the next call, and at least `padding` bytes after it can be read.
struct Record {
  std::string_view text{};
  std::int64_t number = 0;
  std::int64_t offset = 0;  ///< Of its first byte, in the unpacked file.
  char end = '\0';          ///< The byte that ended it; \0 at the end of the file.
  /// Of one that is longer than there is room for, so that `text` is empty: measure/over-budget. Holds as long as the
  /// text would.
  const Diagnostic* refused = nullptr;
};

/// Where records end. Asked about a record from its beginning on, with more of it each time.
class Boundary {
 public:
  Boundary() = default;
  Boundary(const Boundary&) = delete;
  Boundary& operator=(const Boundary&) = delete;
  virtual ~Boundary() = default;
  /// The place in `text` of the byte that ends the record, or npos; what is before `from` was looked at already.
  virtual std::size_t end_of(std::string_view text, std::size_t from) = 0;
  /// A record begins.
  virtual void reset() {}
  /// From now on the text of the record at hand begins `count` bytes later, at most at the last one that was looked at.
  virtual void drop(std::size_t /*count*/) {}
};

class LineBoundary final : public Boundary {
 public:
  std::size_t end_of(std::string_view text, std::size_t from) override { return text.find('\n', from); }
};

class Records {
 public:
  static constexpr std::size_t padding = 64;  // simdjson reads so far past the end

  /// A byte order mark at the beginning is left out. `most` is the longest record in bytes. The first has the number
  /// `first`.
  Records(std::unique_ptr<read::ByteSource> bytes, std::string path, std::int64_t most, Boundary& boundary,
          std::int64_t first = 1);
  /// Nothing at the end. Errors: the bytes' own.
  Result<std::optional<Record>> next();
  /// The next byte that is no white space, taken; \0 at the end. Between records only.
  Result<char> next_byte();

 private:
  Result<bool> refill();
  Result<Record> pass_over();
  Record refuse(std::int64_t length, char end);

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<read::ByteSource> bytes_;
  std::string path_;
  std::size_t most_;
  Boundary& boundary_;
  std::unique_ptr<char[], Free> buffer_{};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t offset_ = 0;  // of begin_
  std::int64_t next_number_;
  std::optional<Diagnostic> refused_{};
  bool at_end_ = false;
  bool marked_ = false;  // the byte order mark was looked for
};

}  // namespace oomplan::measure
