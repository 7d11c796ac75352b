// The command line of oomplan-data, which `oomplan stream`, `dedupe` and `measure` become.
#pragma once

namespace oomplan {

/// Runs one command and returns the exit code (docs/manual.md).
int run_data(int argc, char** argv);

}  // namespace oomplan
