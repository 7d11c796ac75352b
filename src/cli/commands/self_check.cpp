#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../built_in.hpp"
#include "../command.hpp"

namespace oomplan::cli {
namespace {

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

Outcome run_self_check(const Terminal& terminal) {
  const BuiltIn found = built_in(terminal.words.front());
  Outcome out;
  out.out = fmt::format("oomplan {}\ndata {}: {} models, {} GPUs, {} fixes\nunpacks {}\n", version(), found.data,
                        found.models, found.gpus, found.fixes, listed(found.read));
  out.out += found.data_program.empty() ? "stream, dedupe and measure: oomplan-data is not beside this program\n"
                                        : "stream, dedupe and measure: " + found.data_program + "\n";
  if (!found.left_out.empty()) out.out += "built without " + listed(found.left_out) + "\n";
  for (const Diagnostic& problem : found.problems) out.err += to_text(problem);
  if (!found.problems.empty()) out.code = ExitCode::bug;
  return out;
}

}  // namespace

Command commands::self_check(const ArgumentParser& program) {
  return {program.command("self-check", "Say the version, and what is built in; read all data files")
              .in("Program")
              .examples({"oomplan self-check", "oomplan self-check | head -2"}),
          run_self_check};
}

}  // namespace oomplan::cli
