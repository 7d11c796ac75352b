#include "pickle_opcodes.hpp"

#include <array>
#include <string_view>

namespace oomplan::read {
namespace {

struct Forbidden {
  std::uint8_t op = 0;
  std::string_view name{};
  std::string_view does{};
};

constexpr auto table = std::to_array<Forbidden>({
    {'c', "GLOBAL", "imports a name"},
    {0x93, "STACK_GLOBAL", "imports a name"},
    {'R', "REDUCE", "calls a function"},
    {'b', "BUILD", "sets an object's state"},
    {'i', "INST", "imports and builds an object"},
    {'o', "OBJ", "builds an object"},
    {0x81, "NEWOBJ", "builds an object"},
    {0x92, "NEWOBJ_EX", "builds an object"},
    {'P', "PERSID", "loads an object by its id"},
    {'Q', "BINPERSID", "loads an object by its id"},
    {0x82, "EXT1", "imports a registered name"},
    {0x83, "EXT2", "imports a registered name"},
    {0x84, "EXT4", "imports a registered name"},
    {0x97, "NEXT_BUFFER", "wants a buffer from beside the file"},
    {0x98, "READONLY_BUFFER", "wants a buffer from beside the file"},
});

}  // namespace

std::string why_forbidden(std::uint8_t op) {
  for (const Forbidden& row : table) {
    if (row.op == op) return std::string(row.name) + ", which " + std::string(row.does);
  }
  constexpr std::string_view digits = "0123456789abcdef";
  return std::string("0x") + digits[op >> 4U] + digits[op & 15U] + ", which no memory snapshot has";
}

}  // namespace oomplan::read
