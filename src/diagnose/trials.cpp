#include "trials.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cause.hpp"

namespace oomplan::diagnose {
namespace {

void add(std::optional<std::int64_t> size, std::vector<std::int64_t>& out) {
  if (size && (out.empty() || out.back() != *size)) out.push_back(*size);
}

// In the order of the log, of the rank that tells the first.
std::vector<std::int64_t> sizes_tried(const Case& c) {
  std::vector<std::int64_t> out;
  const Evidence* first = nullptr;
  for (const Evidence& e : *c.evidence) {
    const bool tells = e.find("batch_size") != nullptr || e.find("next_batch_size") != nullptr;
    if (!tells || (first != nullptr && e.rank != first->rank)) continue;
    if (first == nullptr) first = &e;
    add(e.number("batch_size"), out);
    add(e.number("next_batch_size"), out);
  }
  return out;
}

}  // namespace

std::optional<Finding> batch_trials(const Case& c) {
  const std::vector<std::int64_t> sizes = sizes_tried(c);
  const bool exhausted = c.root != nullptr && c.root->find("retried") != nullptr;
  constexpr std::size_t most = 12;
  const std::string tried = fmt::format(
      "batch sizes tried by the program itself: {}{}", sizes.size() > most ? "…, " : "",
      fmt::join(sizes.end() - static_cast<std::ptrdiff_t>(std::min(most, sizes.size())), sizes.end(), ", "));
  if (exhausted && !sizes.empty()) return Finding{"batch_trials_exhausted", tried + "; none was left"};
  // What ended the run otherwise says nothing of the last size.
  const bool otherwise = c.root != nullptr && !c.survived && c.root->says != Says::caught && !is_gpu_shortage(c);
  if (sizes.size() < 2 || otherwise) return std::nullopt;
  if (is_gpu_shortage(c))
    return Finding{"batch_trials_failed",
                   fmt::format("{}; {} failed in the end too: start below it", tried, sizes.back())};
  return Finding{"batch_trials_went_on", fmt::format("{}; it went on with {}: start from that", tried, sizes.back())};
}

}  // namespace oomplan::diagnose
