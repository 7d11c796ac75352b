#include "../data_program.hpp"

namespace oomplan::cli {

Command commands::measure(const ArgumentParser& program) {
  return handed_on(program, "measure", "Measure what reading a dataset, or a loader of your own, takes");
}

}  // namespace oomplan::cli
