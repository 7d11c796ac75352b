#include "snapshot_evidence.hpp"

#include <fmt/format.h>

#include "cause.hpp"
#include "oomplan/diagnose/stack_names.hpp"

namespace oomplan::diagnose {
namespace {

Reading bytes(std::string name, std::int64_t value, const std::string& text = {}) {
  return {.name = std::move(name),
          .kind = Reading::Kind::bytes,
          .text = text.empty() ? shown(value) : text,
          .integer = value};
}

std::string phase_of(std::string_view category) {
  if (category == backward) return "backward";
  if (category == "activations") return "forward";
  if (category == "gradients") return "backward";
  if (category == "weights") return "load";
  return category == "loss" || category == "optimizer" ? std::string(category) : std::string();
}

/// What the device had, but for what lies beside PyTorch; no figure where that could make the request look impossible.
void add_total(const MemoryAccount& account, std::vector<Reading>& facts) {
  const std::int64_t least = saturating_add(account.reserved, account.device_free);
  if (*account.requested > least) return;
  facts.push_back(bytes("total", least, "at least " + shown(least)));
}

Evidence failure_of(const Snapshot& snapshot, const MemoryAccount& account) {
  Evidence out{.message = "snapshot/oom", .family = "snapshot", .says = Says::gpu_alloc_failed, .place = Where::gpu};
  const StackNames names(snapshot);
  const std::string line = names.line(account.failed_stack);
  out.where = {account.file, 0, 0};
  out.text = fmt::format("the allocator's trace of GPU {}: an allocation of {} failed, with {} free on the device{}",
                         account.device, shown(*account.requested), shown(account.device_free),
                         line.empty() || line == "no Python frames" ? ""
                         : line == backward                         ? ", in " + line
                                                                    : ", at " + line);
  const std::string_view without = account.stacks ? backward : "";
  out.phase = phase_of(account.failed_stack == 0 ? without : names.category(account.failed_stack));
  const std::int64_t held = std::min(account.held, account.reserved);
  out.facts = {bytes("requested", *account.requested), bytes("free", account.device_free), bytes("allocated", held),
               bytes("reserved_unallocated", account.reserved - held)};
  add_total(account, out.facts);
  out.facts.push_back({"gpu_index", Reading::Kind::integer, std::to_string(account.device), account.device});
  return out;
}

Evidence setting_of(const Snapshot& snapshot) {
  Evidence out{.message = "snapshot/settings", .family = "snapshot", .says = Says::setting, .place = Where::none};
  out.where = {snapshot.file, 0, 0};
  out.text = "PYTORCH_CUDA_ALLOC_CONF=" + snapshot.settings.alloc_conf;
  out.facts = {{"alloc_conf", Reading::Kind::text, snapshot.settings.alloc_conf}};
  return out;
}

}  // namespace

std::vector<Evidence> evidence_of(const Snapshot& snapshot, const MemoryAccount& account) {
  if (!account.requested || account.went_on) return {};
  std::vector<Evidence> out{failure_of(snapshot, account)};
  if (!snapshot.settings.alloc_conf.empty()) out.push_back(setting_of(snapshot));
  return out;
}

}  // namespace oomplan::diagnose
