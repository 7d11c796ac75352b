#include "last_words.hpp"
#include "oomplan/cli/cli.hpp"

int main(int argc, char** argv) {
  oomplan::end_with_words_where_memory_ends();
  return oomplan::run(argc, argv);
}
