#include "../data_program.hpp"

namespace oomplan::cli {

Command commands::measure(CLI::App& program) {
  return handed_on(program, "measure", "Say what reading a dataset, or a loader of your own, really takes");
}

}  // namespace oomplan::cli
