// Failures that a run went on behind for long: what ended it is told elsewhere, or nowhere.
#pragma once

#include <cstddef>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"
#include "posts.hpp"

namespace oomplan::diagnose {

/// A step of training was made, as far as a line tells: it has the step's number, or the loss that was logged.
bool is_step(const Evidence& e);

/// For each of `all`, in the order of the lines: a failure within the program (nobody killed it) behind which its
/// speaker made 50 steps, or answered 50 requests, in the same post, and no launcher names the rank that ended: it may
/// be the one that failed, and the others' steps those that are seen.
std::vector<bool> outlived(const std::vector<Evidence>& all, const Posts& posts);

}  // namespace oomplan::diagnose
