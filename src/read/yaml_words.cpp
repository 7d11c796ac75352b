#include "yaml_words.hpp"

namespace oomplan::read {
namespace {

struct Wording {
  std::string_view library;
  std::string_view ours;
};

constexpr Wording wordings[] = {
    {"end of map not found", "a key with its ':' is expected here"},
    {"end of map flow not found", "',' or '}' is expected here"},
    {"end of sequence not found", "'-' is expected here"},
    {"end of sequence flow not found", "',' or ']' is expected here"},
    {"illegal map value",
     "no ':' can stand here: is one missing above, is the indent right, does text with ': ' lack quotes?"},
    {"unknown token", "a value cannot begin with this character: put it in quotes"},
    {"the referenced anchor is not defined", "no anchor of this name comes before"},
};

}  // namespace

std::string_view in_plain_words(std::string_view message) {
  for (const Wording& wording : wordings) {
    if (message.starts_with(wording.library)) return wording.ours;
  }
  return message;
}

}  // namespace oomplan::read
