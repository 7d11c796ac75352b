#include "../data_program.hpp"

namespace oomplan::cli {

Command commands::stream(const ArgumentParser& program) {
  return handed_on(program, "stream", "Read every row of a dataset within a memory budget, and count them");
}

}  // namespace oomplan::cli
