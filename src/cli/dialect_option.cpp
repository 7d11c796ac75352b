#include "dialect_option.hpp"

#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

std::string dialect_help() {
  const auto names = dialects();
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + std::string(names[i]);
  }
  return out + "; else recognised from the content";
}

}  // namespace oomplan::cli
