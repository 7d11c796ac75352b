#include "oomplan/arguments/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "help.hpp"

namespace oomplan {
namespace {

/// The subcommand that was meant, or the program itself.
const CLI::App& innermost(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  return chosen.empty() ? program : *chosen.front();
}

std::vector<std::string> names_in(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : app.get_subcommands({})) out.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? app.get_parent()->get_name() + " " + app.get_name() : app.get_name();
}

/// From the last to the first, as CLI11 takes them.
std::vector<std::string> words_of(const CLI::App& program, int argc, char* const* argv) {
  std::vector<std::string> out(argv + std::min(argc, 1), argv + argc);
  if (!out.empty() && out.front() == "help") {
    out.erase(out.begin());
    out.resize(std::min<std::size_t>(out.size(), 1));
    const std::vector<std::string> names = names_in(program);
    if (out.empty() || std::ranges::count(names, out.front()) > 0) out.emplace_back("--help");
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace

Option Option::required(bool is) const { return Option(option_->required(is)); }
Option Option::type_name(const std::string& name) const { return Option(option_->type_name(name)); }
Option Option::repeatable() const { return Option(option_->allow_extra_args(false)); }
Option Option::once() const { return Option(option_->expected(1)->allow_extra_args(false)); }
Option Option::separated_by(char delimiter) const { return Option(option_->delimiter(delimiter)); }

Option Option::among(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values)));
}
Option Option::between(int least, int most) const { return Option(option_->check(CLI::Range(least, most))); }
Option Option::between(double least, double most) const { return Option(option_->check(CLI::Range(least, most))); }
Option Option::positive() const {
  return checked([](const std::string& text) {
    const bool good = !text.empty() && std::atof(text.c_str()) > 0;
    return good ? std::string() : "expected a number above 0, found \"" + text + '"';
  });
}
Option Option::checked(const std::function<std::string(const std::string&)>& wrong) const {
  return Option(option_->check(CLI::Validator([wrong](std::string& text) { return wrong(text); }, "")));
}

Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }

ArgumentParser ArgumentParser::command(const std::string& name, const std::string& about) const {
  return ArgumentParser(app_->add_subcommand(name, about));
}

ArgumentParser ArgumentParser::in(const std::string& group) const { return ArgumentParser(app_->group(group)); }

ArgumentParser ArgumentParser::examples(const std::vector<std::string>& command_lines) const {
  std::string out = "Examples:\n";
  for (const std::string& line : command_lines) out += "  " + line + "\n";
  return ArgumentParser(app_->footer(out));
}

template <class T>
Option ArgumentParser::option(const std::string& name, T& to, const std::string& about) const {
  return Option(app_->add_option(name, to, about));
}

#define OOMPLAN_OPTION(...) \
  template Option ArgumentParser::option(const std::string&, __VA_ARGS__&, const std::string&) const;
OOMPLAN_OPTION(std::string)
OOMPLAN_OPTION(std::vector<std::string>)
OOMPLAN_OPTION(std::optional<std::string>)
OOMPLAN_OPTION(int)
OOMPLAN_OPTION(double)
OOMPLAN_OPTION(std::int64_t)
OOMPLAN_OPTION(std::uint64_t)
OOMPLAN_OPTION(std::optional<std::int64_t>)
#undef OOMPLAN_OPTION

Option ArgumentParser::flag(const std::string& name, bool& to, const std::string& about) const {
  return Option(app_->add_flag(name, to, about));
}

Option ArgumentParser::find(const std::string& name) const { return Option(app_->get_option(name)); }

void ArgumentParser::hand_on() const {
  app_->prefix_command();
  app_->fallthrough(false);
  app_->set_help_flag();
}

std::vector<std::string> ArgumentParser::handed_on() const { return app_->remaining(); }

bool ArgumentParser::is_asked() const { return app_->parsed(); }

Arguments::Arguments(const std::string& name, const std::string& about, const std::vector<std::string>& groups)
    : app_(std::make_unique<CLI::App>(about, name)) {
  app_->formatter(std::make_shared<HelpFormatter>(groups));
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->require_subcommand(1);
  app_->fallthrough();
}

Arguments::~Arguments() = default;

void Arguments::add_version(const std::string& text) { app_->set_version_flag("-V,--version", text); }

ParsedArguments Arguments::parse(int argc, char* const* argv) {
  using Kind = ParsedArguments::Kind;
  try {
    app_->parse(words_of(*app_, argc, argv));
  } catch (const CLI::CallForVersion& wanted) {
    return {.kind = Kind::print, .text = std::string(wanted.what()) + "\n"};
  } catch (const CLI::Success&) {
    return {.kind = Kind::print, .text = app_->help()};
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = innermost(*app_);
    return {.kind = Kind::misused, .text = error.what(), .command = full_name(command), .names = names_in(command)};
  }
  return {};
}

}  // namespace oomplan
