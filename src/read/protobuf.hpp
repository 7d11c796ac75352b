// Messages of protocol buffers, field by field, without their schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "little_endian.hpp"

namespace oomplan::read {

/// The fields of a protocol buffer's message, one by one; ends at the first that is malformed.
class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message) : rest_(message) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;   ///< Of a varint; of a fixed one its bits.
    std::string_view bytes{};  ///< Of one with a length.
  };
  std::optional<Field> next() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return std::nullopt;
    Field out{.number = *tag >> 3U};
    switch (*tag & 7U) {
      case 0: {
        const std::optional<std::uint64_t> value = varint();
        if (!value) return std::nullopt;
        out.value = *value;
        return out;
      }
      case 1:
        return fixed(8, out);
      case 2: {
        const std::optional<std::uint64_t> length = varint();
        if (!length || *length > rest_.size()) return std::nullopt;
        out.bytes = rest_.substr(0, *length);
        rest_.remove_prefix(*length);
        return out;
      }
      case 5:
        return fixed(4, out);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return out;
    }
    return std::nullopt;
  }
  std::optional<Field> fixed(std::size_t size, Field out) {
    if (rest_.size() < size) return std::nullopt;
    out.value = little_endian(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
};

}  // namespace oomplan::read
