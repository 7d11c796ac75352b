// The host's part of the verdict of commands that hold many plans against a machine.
#pragma once

#include "host.hpp"
#include "oomplan/arguments/arguments.hpp"
#include "oomplan/estimate/host_check.hpp"

namespace oomplan::cli {

/// --loader, --host-ram, --shm, --cgroup
void add_host_options(const ArgumentParser& app, HostQuestion& host);

/// What is wrong with the question itself, whatever the plan is.
Diagnostics wrong_in(const HostQuestion& question);

/// answer_host() of a plan that is estimated for it, and what undecided_on() says; empty where nothing is asked. The
/// catalog outlives it.
HostCheck host_check(const HostQuestion& question, const Catalog& catalog);

}  // namespace oomplan::cli
