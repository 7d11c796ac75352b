// A command line: the commands of a program, their options, and what was asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {  // The library that reads it, included by arguments.cpp alone.
class App;
class Option;
}  // namespace CLI

namespace oomplan {

struct CommandOutline;

/// An option of a command, or one of its words ("CONFIG"). Each says one thing more of it, and lives with its program.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required(bool is = true) const;
  Option type_name(const std::string& name) const;  ///< What help has in the value's place.
  Option repeatable() const;                        ///< Once for each value: "--gpu a --gpu b", not "--gpu a b".
  Option once() const;                              ///< At most one value, though it goes into a list.
  Option separated_by(char delimiter) const;        ///< One word has several values.

  Option among(const std::vector<std::string>& values) const;
  Option between(int least, int most) const;
  Option between(double least, double most) const;
  Option positive() const;
  /// `wrong` says what is wrong with a value; "" where nothing is.
  Option checked(const std::function<std::string(const std::string&)>& wrong) const;

  Option needs(Option other) const;
  Option excludes(Option other) const;

 private:
  CLI::Option* option_;
};

/// The words and options that a command takes. What they are given is written to where they were declared with, which
/// has to live until the command line is parsed.
class ArgumentParser {
 public:
  explicit ArgumentParser(CLI::App* app) : app_(app) {}

  ArgumentParser command(const std::string& name, const std::string& about) const;
  ArgumentParser in(const std::string& group) const;                             ///< Among the program's commands.
  ArgumentParser examples(const std::vector<std::string>& command_lines) const;  ///< At the end of its help.

  /// T: std::string, a vector of them, int, double, std::int64_t, std::uint64_t; std::optional of a string or
  /// std::int64_t.
  template <class T>
  Option option(const std::string& name, T& to, const std::string& about) const;
  Option flag(const std::string& name, bool& to, const std::string& about) const;
  Option find(const std::string& name) const;  ///< One that it has.

  /// Takes whatever follows, --help too; `handed_on` has it once the command line is parsed.
  void hand_on() const;
  std::vector<std::string> handed_on() const;

  CommandOutline outline() const;  ///< All that it takes, and its commands.

  bool is_asked() const;  ///< Once the command line is parsed.

 private:
  CLI::App* app_;
};

/// What a command line comes to.
struct ParsedArguments {
  enum class Kind : std::uint8_t { command, print, misused };  ///< `print`: the help or the version.

  Kind kind = Kind::command;
  std::string text{};                ///< What to print, or what is wrong.
  std::string command{};             ///< Of one that is wrong: the command that was meant, "oomplan estimate" …
  std::vector<std::string> names{};  ///< … and the commands and options that it has.
};

/// A program of commands, one of which has to be asked for.
class Arguments {
 public:
  /// `groups`: of its commands, in the order in which help has them.
  Arguments(const std::string& name, const std::string& about, const std::vector<std::string>& groups);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  void add_version(const std::string& text);
  ArgumentParser parser() const { return ArgumentParser(app_.get()); }
  /// "help COMMAND" is "COMMAND --help".
  ParsedArguments parse(int argc, char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace oomplan
