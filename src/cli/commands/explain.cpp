#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../codes.hpp"
#include "../command.hpp"
#include "../errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

Diagnostic unknown_code(const std::string& code) {
  std::vector<std::string_view> known;
  for (const CodeRow& row : code_rows()) known.push_back(row.code);
  Diagnostic error{.code = "cli/usage", .message = fmt::format("there is no code '{}'", code)};
  const auto near = nearest(code, known);
  error.hint = near ? fmt::format("did you mean '{}'?", *near) : "`oomplan explain` lists them all";
  return error;
}

std::string paragraph(const CodeRow& row) {
  const int exit = static_cast<int>(exit_code_of(row.verdict));
  const std::string ends = row.verdict == Verdict::answered ? "a warning" : fmt::format("exit code {}", exit);
  return fmt::format("{} ({})\n{}\n", row.code, ends, row.text);
}

Outcome run_explain(const std::string& code) {
  if (code.empty()) {
    Outcome all;
    for (const CodeRow& row : code_rows()) all.out += std::string(row.code) + "\n";
    return all;
  }
  const CodeRow* row = find_code(code);
  return row ? Outcome{.out = paragraph(*row)} : outcome_of(collect(failed({unknown_code(code)})), "text", {});
}

}  // namespace

Command commands::explain(const ArgumentParser& program) {
  const ArgumentParser app = program.command("explain", "Explain a diagnostic code, and what to do about it")
                                 .in("Diagnose")
                                 .examples({"oomplan explain", "oomplan explain catalog/unknown-model"});
  auto code = std::make_shared<std::string>();
  app.option("CODE", *code, "The code in brackets after a message; without one, all codes are listed");
  return {app, [code](const Terminal&) { return run_explain(*code); }};
}

}  // namespace oomplan::cli
