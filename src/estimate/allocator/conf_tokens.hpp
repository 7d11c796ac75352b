// The text of PYTORCH_ALLOC_CONF as keys and values with their places: "key:value,key:[from:value,from:value]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::allocator {

struct ConfWord {
  std::string text{};  ///< Without blanks, which PyTorch drops even inside a word.
  int column = 0;
};

struct ConfPair {
  ConfWord from{};
  ConfWord value{};
};

/// One setting. A list has its pairs, anything else a value.
struct ConfSetting {
  ConfWord key{};
  ConfWord value{};
  bool is_list = false;
  std::vector<ConfPair> list{};
};

/// The settings in the text's order, as far as it can be read; what is malformed goes to `errors`.
std::vector<ConfSetting> conf_settings(std::string_view text, const std::string& name, Diagnostics& errors);

/// An error that points at `word`.
Diagnostic conf_error(std::string_view text, const std::string& name, const ConfWord& word, std::string code,
                      std::string message, std::string hint = {});

}  // namespace oomplan::allocator
