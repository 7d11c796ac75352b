#include <string_view>

#include "oomplan/arguments/command_tree.hpp"

namespace oomplan {
namespace {

/// Text as roff has it: a line that begins with a dot or a quote would be a request.
std::string roff(std::string_view text) {
  std::string out;
  bool first = true;
  for (const char c : text) {
    if (first && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    first = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string entry(const OptionOutline& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (option.is_word) names = italic(option.names.front());
  if (!option.is_word && !option.type.empty()) names += " " + italic(option.type);
  std::string choices;
  for (const std::string& one : option.choices) choices += (choices.empty() ? " One of: " : ", ") + one;
  return ".TP\n" + names + "\n" + roff(option.about + "." + (choices.empty() ? "" : choices + ".")) + "\n";
}

std::string section(const CommandOutline& program, const CommandOutline& command) {
  std::string out = ".SS " + bold(program.name + " " + command.name) + "\n" + roff(command.about) + ".\n";
  for (const OptionOutline& one : command.options) out += entry(one);
  if (!command.examples.empty()) out += ".PP\n.nf\n" + roff(command.examples) + ".fi\n";
  return out;
}

}  // namespace

std::string manual_page(const CommandOutline& program, const std::string& version) {
  std::string title = program.name;
  for (char& c : title)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  std::string out = ".TH " + title + " 1 \"\" \"" + roff(program.name + " " + version) + "\"\n.SH NAME\n" +
                    roff(program.name) + " \\- " + roff(program.about) + "\n.SH SYNOPSIS\n" + bold(program.name) + " " +
                    italic("COMMAND") + " ...\n.SH OPTIONS\n";
  for (const OptionOutline& one : program.options) out += entry(one);
  out += ".SH COMMANDS\n";
  for (const CommandOutline& command : program.commands) out += section(program, command);
  return out;
}

}  // namespace oomplan
