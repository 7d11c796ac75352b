// Errors that a run went on behind for long: what ended it is told elsewhere, or nowhere.
#pragma once

#include <cstddef>
#include <vector>

#include "oomplan/diagnose/evidence.hpp"
#include "posts.hpp"

namespace oomplan::diagnose {

/// For each of `all`, in the order of the lines: an error of another kind than memory's behind which its speaker made
/// 50 steps, or answered 50 requests, in the same post, and no launcher tells of an end: it may be that error's.
std::vector<bool> outlived(const std::vector<Evidence>& all, const Posts& posts);

}  // namespace oomplan::diagnose
