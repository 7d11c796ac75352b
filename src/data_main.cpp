#include "first_words.hpp"
#include "oomplan/data.hpp"

int main(int argc, char** argv) { return oomplan::run_data(argc, argv); }
