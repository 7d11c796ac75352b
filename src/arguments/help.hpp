// How help looks: at most 100 columns, commands in groups, examples at the end.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace oomplan {

class HelpFormatter : public CLI::Formatter {
 public:
  /// The groups of commands, in the order in which they are printed.
  explicit HelpFormatter(std::vector<std::string> groups);

  /// All of it: what CLI11 writes itself differs by its version.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::vector<std::string> groups_{};
};

}  // namespace oomplan
