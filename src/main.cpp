#include "first_words.hpp"
#include "oomplan/cli.hpp"

int main(int argc, char** argv) { return oomplan::run(argc, argv); }
