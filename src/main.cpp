#include <cstdio>
#include <exception>

#include "oomplan/cli.hpp"

namespace {

int bug(const char* what) {
  std::fprintf(stderr,
               "oomplan: a bug in oomplan, not in your config: %s\n"
               "Please report it with the config and the command line.\n",
               what);
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return oomplan::run(argc, argv);
  } catch (const std::exception& error) {
    return bug(error.what());
  } catch (...) {
    return bug("an unknown exception");
  }
}
