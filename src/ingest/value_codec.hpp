// The codecs by the names that keys.yaml has for them: how the value of a key is read and written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "codec.hpp"
#include "oomplan/plan/fact_table.hpp"

namespace oomplan::ingestion {

/// What a FactValue holds a T as: an enumeration by its number.
template <class T>
using Held = std::conditional_t<std::is_enum_v<T>, std::int64_t, T>;

struct ValueCodec {
  std::string_view name{};
  std::string_view expected{};
  std::span<const std::string_view> choices{};
  std::optional<FactValue> (*read)(const Node&) = nullptr;
  std::string (*write)(const FactValue&) = nullptr;
};

/// Null where no codec is called that.
const ValueCodec* find_codec(std::string_view name);

/// A flag that a framework can be left to decide.
enum class Choice : std::uint8_t { automatic, on, off };

}  // namespace oomplan::ingestion
