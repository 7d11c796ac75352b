// What yaml-cpp complains about, said to a config's author.
#pragma once

#include <string_view>

namespace oomplan::read {

/// yaml-cpp speaks of its own grammar; an author thinks of keys and dashes. A message that is not known stays.
std::string_view in_plain_words(std::string_view message);

}  // namespace oomplan::read
