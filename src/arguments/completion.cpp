#include <algorithm>
#include <string_view>

#include "oomplan/arguments/command_tree.hpp"

namespace oomplan {
namespace {

using Options = std::vector<OptionOutline>;

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string out;
  for (const char c : text) c == what ? out += by : out += c;
  return out;
}

/// 'text', as these shells quote.
std::string quoted(std::string_view text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }
std::string quoted_in_fish(std::string_view text) {
  return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::vector<std::string> names_of(const std::vector<CommandOutline>& commands) {
  std::vector<std::string> out;
  for (const CommandOutline& one : commands) out.push_back(one.name);
  return out;
}

/// The command's own, and those that every command takes.
Options options_of(const CommandOutline& program, const CommandOutline& command) {
  Options out = command.options;
  for (const OptionOutline& one : program.options) {
    const bool has = std::ranges::any_of(out, [&](const OptionOutline& own) { return own.names == one.names; });
    if (!has && one.names.back() != "--version") out.push_back(one);
  }
  return out;
}

// bash --------------------------------------------------------------------------------------------------------------

std::string bash_words(const std::string& words) {
  return "COMPREPLY=($(compgen -W " + quoted(words) + " -- \"$cur\"))";
}

std::string bash_value(const OptionOutline& option) {
  if (!option.choices.empty()) return bash_words(joined(option.choices, " "));
  return option.takes_path ? "COMPREPLY=($(compgen -f -- \"$cur\"))" : "COMPREPLY=()";
}

std::string bash_case(const CommandOutline& program, const CommandOutline& command) {
  std::string out;
  std::vector<std::string> names;
  bool word_is_path = command.options.empty();
  for (const OptionOutline& one : options_of(program, command)) {
    if (one.is_word) word_is_path = word_is_path || one.takes_path || !one.choices.empty();
    if (one.is_word) continue;
    names.insert(names.end(), one.names.begin(), one.names.end());
    if (!one.type.empty())
      out += "      " + command.name + ":" + joined(one.names, "|" + command.name + ":") + ") " + bash_value(one) +
             "; return ;;\n";
  }
  out +=
      "      " + command.name + ":*)\n        case $cur in\n          -*) " + bash_words(joined(names, " ")) + " ;;\n";
  const auto word = std::ranges::find_if(command.options, &OptionOutline::is_word);
  if (word != command.options.end() && !word->choices.empty()) {
    out += "          *) " + bash_words(joined(word->choices, " ")) + " ;;\n";
  } else if (word_is_path) {
    out += "          *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n";
  }
  return out + "        esac ;;\n";
}

std::string for_bash(const CommandOutline& program) {
  std::string out = "# " + program.name +
                    " in bash: source this file, or put it where bash-completion looks for it\n_" + program.name +
                    "() {\n"
                    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word\n"
                    "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                    "    case $word in\n      " +
                    joined(names_of(program.commands), "|") +
                    ") command=$word; break ;;\n    esac\n  done\n  COMPREPLY=()\n  case $command:$prev in\n";
  for (const CommandOutline& command : program.commands) out += bash_case(program, command);
  const std::vector<std::string> commands = names_of(program.commands);
  return out + "      :*) " + bash_words(joined(commands, " ") + " help --help --version") +
         " ;;\n  esac\n}\ncomplete -o filenames -F _" + program.name + " " + program.name + "\n";
}

// zsh ---------------------------------------------------------------------------------------------------------------

/// In a description between brackets, or before a colon.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const OptionOutline& option) {
  if (!option.choices.empty()) return "(" + joined(option.choices, " ") + ")";
  return option.takes_path ? "_files" : " ";
}

std::string zsh_option(const OptionOutline& option) {
  if (option.is_word) return quoted("*:" + zsh_text(option.names.front()) + ":" + zsh_value(option));
  const std::string value = option.type.empty() ? "" : ":" + zsh_text(option.type) + ":" + zsh_value(option);
  std::string out;
  for (const std::string& name : option.names)
    out += (out.empty() ? "" : " ") + quoted("*" + name + "[" + zsh_text(option.about) + "]" + value);
  return out;
}

std::string for_zsh(const CommandOutline& program) {
  std::string out = "#compdef " + program.name + "\n_" + program.name + "() {\n  local -a commands=(\n";
  for (const CommandOutline& command : program.commands)
    out += "    " + quoted(command.name + ":" + zsh_text(command.about)) + "\n";
  out +=
      "  )\n  local context state line\n  _arguments -C '1: :->command' '*:: :->rest'\n  case $state in\n"
      "    command) _describe command commands ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandOutline& command : program.commands) {
    out += "        " + command.name + ") _arguments";
    for (const OptionOutline& one : options_of(program, command)) out += " \\\n          " + zsh_option(one);
    if (command.options.empty()) out += " '*:PATH:_files'";
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\nif [ \"$funcstack[1]\" = _" + program.name + " ]; then _" + program.name +
         " \"$@\"; else compdef _" + program.name + " " + program.name + "; fi\n";
}

// fish --------------------------------------------------------------------------------------------------------------

std::string fish_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return out;
}

std::string fish_value(const OptionOutline& option) {
  if (option.type.empty()) return "";
  if (!option.choices.empty()) return " -x -a " + quoted_in_fish(joined(option.choices, " "));
  return option.takes_path ? " -r -F" : " -x";
}

std::string for_fish(const CommandOutline& program) {
  const std::string head = "complete -c " + program.name;
  std::string out = head + " -f\n";
  for (const CommandOutline& command : program.commands) {
    const std::string in = head + " -n " + quoted_in_fish("__fish_seen_subcommand_from " + command.name);
    out += head + " -n __fish_use_subcommand -a " + command.name + " -d " + quoted_in_fish(command.about) + "\n";
    if (command.options.empty()) out += in + " -F\n";
    for (const OptionOutline& one : options_of(program, command)) {
      const std::string about = " -d " + quoted_in_fish(one.about);
      if (!one.is_word) {
        out += in + fish_names(one.names) + fish_value(one) + about + "\n";
      } else if (!one.choices.empty()) {
        out += in + " -a " + quoted_in_fish(joined(one.choices, " ")) + "\n";
      } else if (one.takes_path) {
        out += in + " -F\n";
      }
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CommandOutline& program, const std::string& shell) {
  if (shell == "bash") return for_bash(program);
  if (shell == "zsh") return for_zsh(program);
  return shell == "fish" ? for_fish(program) : "";
}

}  // namespace oomplan
