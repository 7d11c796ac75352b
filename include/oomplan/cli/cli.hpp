// The program: arguments in, text and an exit code out.
#pragma once

namespace oomplan {

/// Runs `oomplan ARGV…`, writes to standard output and standard error, and returns the exit code (docs/manual.md).
int run(int argc, char** argv);

}  // namespace oomplan
