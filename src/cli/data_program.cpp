#include "data_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "errors.hpp"

namespace oomplan::cli {
namespace {

Outcome not_there(std::string message, std::string hint, bool json) {
  Diagnostic diagnostic{.code = "cli/no-data-program", .message = std::move(message), .hint = std::move(hint)};
  return outcome_of(collect(failed({std::move(diagnostic)})), json ? "json" : "text", {});
}

/// Becomes the other program; returns only where that cannot be.
Outcome become(const std::string& name, std::vector<std::string> words, const Terminal& terminal) {
  const std::string path = data_program(terminal.words.front());
  const bool json = std::ranges::find(words, "--json") != words.end();
  std::string missing = terminal.find_arrow ? terminal.find_arrow() : "";
  if (!missing.empty()) return not_there(std::move(missing), "", json);
  std::vector<char*> arguments{const_cast<char*>("oomplan"), const_cast<char*>(name.c_str())};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  return not_there("cannot run " + path + ": " + std::strerror(errno),
                   "it is built where Arrow C++ or the pyarrow wheel is found; scripts/setup brings that", json);
}

}  // namespace

std::string data_program(const std::string& word) {
  constexpr auto name = "oomplan-data";
  // In Python the process is another's program, and the word says where the package is.
  if (word.find('/') != std::string::npos) {
    std::string named = (std::filesystem::path(word).parent_path() / name).string();
    if (::access(named.c_str(), X_OK) == 0) return named;
  }
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // Where that is not known, none: not one that lies in the current folder.
  return error ? "" : (self.parent_path() / name).string();
}

Command handed_on(const ArgumentParser& program, const std::string& name, const std::string& description) {
  const ArgumentParser app = program.command(name, description).in("Data");
  app.hand_on();
  return {app, [app, name](const Terminal& terminal) {
            return terminal.own_process ? become(name, app.handed_on(), terminal) : needs_own_process(name);
          }};
}

}  // namespace oomplan::cli
