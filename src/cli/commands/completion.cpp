#include <string>

#include "../command.hpp"
#include "oomplan/arguments/command_tree.hpp"

namespace oomplan::cli {

Command commands::completion(const ArgumentParser& program) {
  const ArgumentParser app =
      program.command("completion", "Print what completes this command line in a shell, or its manual page")
          .in("Program")
          .examples({"oomplan completion bash > ~/.local/share/bash-completion/completions/oomplan",
                     "oomplan completion man > ~/.local/share/man/man1/oomplan.1"});
  auto what = std::make_shared<std::string>();
  app.option("FOR", *what, "bash, zsh, fish, or man").required().among({"bash", "zsh", "fish", "man"});
  // All commands are there only once the command line is parsed.
  return {app, [program, what](const Terminal&) {
            const CommandOutline all = program.outline();
            return Outcome{.out = *what == "man" ? manual_page(all, std::string(version()))
                                                 : completion_script(all, *what)};
          }};
}

}  // namespace oomplan::cli
