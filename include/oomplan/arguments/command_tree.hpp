// What a program's command line takes, as values: for completion in shells and the manual page.
#pragma once

#include <string>
#include <vector>

namespace oomplan {

/// An option, a flag or a word.
struct OptionOutline {
  std::vector<std::string> names{};    ///< "-q", "--quiet"; of a word its one name, "CONFIG".
  std::string about{};                 ///< One line of plain text.
  std::string type{};                  ///< What stands in the value's place, "NAME"; "" for a flag.
  std::vector<std::string> choices{};  ///< All values that it takes, where they are few.
  bool is_word = false;
  bool takes_path = false;  ///< A file or a folder.
};

struct CommandOutline {
  std::string name{};
  std::string about{};
  std::string group{};
  std::vector<OptionOutline> options{};
  std::vector<CommandOutline> commands{};
  std::string examples{};  ///< Lines, as help ends with them.
};

/// A script that completes the program's words in `shell`: bash, zsh or fish. "" for another one.
std::string completion_script(const CommandOutline& program, const std::string& shell);

/// The manual page, section 1, in roff (man(7)).
std::string manual_page(const CommandOutline& program, const std::string& version);

}  // namespace oomplan
