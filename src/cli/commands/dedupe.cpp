#include "../data_program.hpp"

namespace oomplan::cli {

Command commands::dedupe(const ArgumentParser& program) {
  return handed_on(program, "dedupe", "Find the rows of a dataset that exactly equal an earlier one");
}

}  // namespace oomplan::cli
