// Values as bytes, for a batch of rows that is read at one time and told at another.
#pragma once

#include <string_view>

#include "byte_buffer.hpp"
#include "oomplan/measure/values.hpp"

namespace oomplan::measure {

class ValueBytes final : public Values {
 public:
  explicit ValueBytes(ByteBuffer& out) : out_(out) {}
  void null() override;
  void boolean(bool value) override;
  void integer(std::int64_t value) override;
  void large_integer(std::uint64_t value) override;
  void number(double value) override;
  void decimal(std::string_view digits) override;
  void text(std::string_view utf8) override;
  void bytes(std::string_view bytes) override;
  void time(const Time& value) override;
  void begin_list() override;
  void end_list() override;
  void begin_object() override;
  void name(std::string_view utf8) override;
  void end_object() override;

 private:
  ByteBuffer& out_;
};

/// What ValueBytes wrote, told again. It trusts the bytes.
void tell(std::string_view written, Values& values);

}  // namespace oomplan::measure
