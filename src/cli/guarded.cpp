#include "guarded.hpp"

#include <cstring>
#include <exception>

namespace oomplan::cli {
namespace {

GateItem crashed(const std::string& config, const std::string& what) {
  GateItem out{.config = config, .verdict = GateVerdict::invalid, .where = {config, 1, 1}};
  out.diagnostics.push_back({.code = "cli/bug",
                             .message = "a bug in oomplan, not in your config: " + what,
                             .where = {config, 0, 0},
                             .hint = "please report it with the config and the command line"});
  return out;
}

}  // namespace

GateItem guarded(const std::string& config, const std::function<GateItem()>& judge) {
  try {
    return judge();
  } catch (const std::exception& error) {
    return crashed(config, error.what());
  }
}

GateItem ended_by(int signal, const std::string& config) {
  return crashed(config, std::string("its judgement ended by a signal: ") + ::strsignal(signal));
}

}  // namespace oomplan::cli
