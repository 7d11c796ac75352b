#include "../data_program.hpp"

namespace oomplan::cli {

Command commands::stream(CLI::App& program) {
  return handed_on(program, "stream", "Read every row of a dataset within a budget of memory, and count");
}

}  // namespace oomplan::cli
