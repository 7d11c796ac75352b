#include <algorithm>
#include <array>
#include <utility>

#include "case.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

// As NumPy and TensorFlow name them, in lower case; "DT_" taken off.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> sizes{
    {{"float64", 8}, {"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"int64", 8},     {"int32", 4},
     {"int16", 2},   {"int8", 1},    {"uint64", 8},  {"uint32", 4},   {"uint16", 2},    {"uint8", 1},
     {"bool", 1},    {"float", 4},   {"double", 8},  {"half", 2},     {"complex64", 8}, {"complex128", 16},
     {"int", 4},     {"long", 8},    {"single", 4},  {"int128", 16}}};

std::optional<std::int64_t> size_of(std::string_view written) {
  const std::string type = lowered(written);
  const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const auto& one) { return one.first == type; });
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

// "[3,3,512,1024]", "(9681, 9681)", "(1000,)"; none where anything but numbers is in it.
std::optional<std::int64_t> elements_of(std::string_view shape) {
  std::int64_t product = 1;
  bool any = false;
  while (!shape.empty()) {
    const std::size_t digits = std::min(shape.find_first_not_of("0123456789"), shape.size());
    if (digits > 0) {
      product = saturating_mul(product, parse_integer(shape.substr(0, digits)).value_or(0));
      any = true;
    } else if (std::string_view("[](), ").find(shape[0]) == std::string_view::npos) {
      return std::nullopt;
    }
    shape.remove_prefix(std::max<std::size_t>(digits, 1));
  }
  return any ? std::optional(product) : std::nullopt;
}

const Reading* find(const std::vector<Reading>& facts, std::string_view name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Reading& f) { return f.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Reading> size_of_shape(const std::vector<Reading>& facts) {
  const Reading* shape = find(facts, "shape");
  const Reading* type = find(facts, "dtype");
  if (shape == nullptr || type == nullptr || find(facts, "requested") != nullptr) return std::nullopt;
  const auto elements = elements_of(shape->text);
  const auto each = size_of(type->text);
  if (!elements || !each) return std::nullopt;
  const std::int64_t bytes = saturating_mul(*elements, *each);
  return Reading{.name = "requested",
                 .kind = Reading::Kind::bytes,
                 .text = std::to_string(bytes) + " bytes",
                 .integer = bytes,
                 .real = static_cast<double>(bytes)};
}

}  // namespace oomplan::diagnose
