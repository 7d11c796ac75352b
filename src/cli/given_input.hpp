// Text in the place of standard input, where the process and its descriptors are another program's.
#pragma once

#include <optional>
#include <string_view>

namespace oomplan::cli {

/// As long as it lives, "-" means `text` in this thread. They may be nested.
class GivenInput {
 public:
  explicit GivenInput(std::string_view text);
  GivenInput(const GivenInput&) = delete;
  GivenInput& operator=(const GivenInput&) = delete;
  ~GivenInput();

 private:
  std::optional<std::string_view> before_;
};

/// What was given in this thread; nothing where "-" is standard input.
std::optional<std::string_view> given_input();

}  // namespace oomplan::cli
