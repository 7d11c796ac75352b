#include "each_gpu.hpp"

#include <algorithm>
#include <array>

namespace oomplan::cli {
namespace {

bool is_of_question(ExitCode code) {
  return code == ExitCode::usage || code == ExitCode::invalid || code == ExitCode::bug;
}

bool is_worse(ExitCode code, ExitCode than) {
  constexpr std::array order{ExitCode::ok, ExitCode::undecided, ExitCode::does_not_fit};
  return std::ranges::find(order, code) > std::ranges::find(order, than);
}

}  // namespace

void add_gpus_option(const ArgumentParser& app, std::vector<std::string>& gpus) {
  app.option("--gpu", gpus, "A GPU by name (see `oomplan gpus`) or size (24GiB); l4,a100-80gb: one after the other")
      .required()
      .repeatable()
      .separated_by(',')
      .type_name("NAME");
}

Diagnostics check_alone(const std::vector<std::string>& gpus,
                        const std::vector<std::pair<std::string_view, bool>>& given) {
  Diagnostics out;
  if (gpus.size() < 2) return out;
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    out.push_back({.code = "cli/usage",
                   .message = std::string(option) + " is of the answer for one GPU, and --gpu names several",
                   .hint = "ask for each by itself"});
  }
  return out;
}

Outcome answer_each(const std::vector<std::string>& gpus, const std::function<Outcome(const std::string&)>& answer) {
  Outcome out;
  for (const std::string& gpu : gpus) {
    Outcome one = answer(gpu);
    if (is_of_question(one.code)) return one;
    if (!out.out.empty() && !one.out.empty()) out.out += '\n';
    out.out += one.out;
    if (out.err != one.err) out.err += one.err;
    if (is_worse(one.code, out.code)) out.code = one.code;
  }
  return out;
}

}  // namespace oomplan::cli
