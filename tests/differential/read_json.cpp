// Prints documents as oomplan reads them, for a comparison with other readers: a line in is "SYNTAX HEX" (yaml, json or
// toml, and the text in hexadecimal), a line out is JSON: {"is": VALUE} or {"refused": CODE, "why": MESSAGE}. In a
// VALUE null, booleans, numbers, strings and lists are JSON's; a mapping is {"map": [[KEY, VALUE], …]}, and a number
// that no int64 or finite double holds {"number": TEXT}.
#include <array>
#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    out += static_cast<char>(byte);
  }
  return out;
}

std::string quoted(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'u', '0', '0', hex[byte >> 4U], hex[byte & 15U]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string written(double value) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

std::string number(const Node& node) {
  const std::string beyond = "{\"number\": " + quoted(node.text) + "}";
  if (node.kind == Node::Kind::integer) {
    const auto value = node.as_integer();
    return value ? std::to_string(*value) : beyond;
  }
  const auto value = node.as_number();
  if (!value) return beyond;
  const std::string out = written(*value);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

template <class Items, class Print>
std::string joined(const Items& items, const Print& print) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + print(item);
  return out;
}

std::string json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::boolean:
      return node.as_boolean().value_or(false) ? "true" : "false";
    case Node::Kind::integer:
    case Node::Kind::real:
      return number(node);
    case Node::Kind::string:
      return quoted(node.text);
    case Node::Kind::sequence:
      return "[" + joined(node.items, json_of) + "]";
    default:
      return "{\"map\": [" +
             joined(node.entries,
                    [](const Entry& entry) { return "[" + quoted(entry.key) + ", " + json_of(entry.value) + "]"; }) +
             "]}";
  }
}

std::string answer(std::string_view line) {
  const auto space = line.find(' ');
  const std::string_view name = line.substr(0, space);
  const Syntax syntax = name == "json" ? Syntax::json : name == "toml" ? Syntax::toml : Syntax::yaml;
  const auto document = parse_document(from_hex(line.substr(std::min(line.size(), space + 1))), "c", syntax);
  if (document) return "{\"is\": " + json_of(document->root) + "}";
  const Diagnostic& first = document.errors().front();
  return "{\"refused\": " + quoted(first.code) + ", \"why\": " + quoted(first.message) + "}";
}

}  // namespace
}  // namespace oomplan

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) std::cout << oomplan::answer(line) << std::endl;
}
