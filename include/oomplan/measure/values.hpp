// What a row holds, told value after value, so that a row of any format can become anything.
#pragma once

#include <cstdint>
#include <string_view>

namespace oomplan::measure {

/// A moment since 1970, a length of time or a time of day, in seconds and nanoseconds (counted forwards).
struct Time {
  enum class Kind : char { instant, date, duration, of_day };
  Kind kind = Kind::instant;
  bool zoned = false;  ///< An instant whose zone is known; the seconds are in UTC.
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};

/// Told of one value at a time, containers depth first. Views hold during the call.
class Values {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  virtual ~Values() = default;

  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void large_integer(std::uint64_t value) = 0;  ///< One that int64 may not hold.
  virtual void number(double value) = 0;
  virtual void decimal(std::string_view digits) = 0;  ///< With sign and point, where it has them.
  virtual void text(std::string_view utf8) = 0;       ///< UTF-8 as far as the file keeps its promise.
  virtual void bytes(std::string_view bytes) = 0;
  virtual void time(const Time& value) = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void begin_object() = 0;
  virtual void name(std::string_view utf8) = 0;  ///< Of the value that follows, in an object.
  virtual void end_object() = 0;
  /// No more is wanted of this row: a long list need not be told to its end. Lists that were begun may stay open.
  virtual bool stopped() const { return false; }
};

}  // namespace oomplan::measure
