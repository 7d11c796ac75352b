// Any bytes at all as a memory snapshot: read or refused, and what is read adds up.
#include <cstdint>
#include <string>
#include <string_view>

#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/estimate/recording.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "require.hpp"

namespace {

using namespace oomplan;

const Rulebook& rules() {
  static const Rulebook book = *Rulebook::load();
  return book;
}

bool is_printable(const std::string& text) {
  for (const char c : text) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

void check_refusal(const Diagnostics& errors) {
  require(!errors.empty(), "a refusal says something");
  require(!errors.front().message.empty() && is_printable(to_text(errors.front())), "and says why");
}

void check_account(const MemoryAccount& account) {
  require(account.reserved >= 0 && account.active >= 0 && account.split >= 0, "nothing is below zero");
  require(account.largest_split <= account.split, "the largest piece is one of all");
  for (const Holding& line : account.lines) require(line.bytes <= account.held, "a line holds a part of all");
}

void check_played(const PlayedRecording& played, const Recording& recording) {
  const Agreement& agreement = played.agreement;
  require(agreement.same <= agreement.segments && agreement.at_their_address <= agreement.allocations, "a part of all");
  require(played.statistics.reserved >= played.statistics.allocated, "what is allocated is reserved");
  require(!played.failure || played.failure->entry <= recording.entries, "it ends at an entry");
}

void check_recording(const Snapshot& snapshot, std::size_t device) {
  const Result<Recording> recording = recording_of(snapshot, device);
  if (!recording) return check_refusal(recording.errors());
  for (const DriverAs driver : {DriverAs::recorded, DriverAs::descending, DriverAs::ascending})
    check_played(play_as_recorded(*recording, driver), *recording);
  AllocatorSettings expandable;
  expandable.expandable_segments = true;
  for (const AllocatorSettings& settings : {recording->settings, AllocatorSettings{}, expandable})
    check_played(play_otherwise(*recording, settings, {.total = recording->room.value_or(Bytes::gib(24))}), *recording);
}

void check(const Snapshot& snapshot) {
  for (const SnapshotStack& stack : snapshot.stacks) {
    for (const std::uint32_t frame : stack) require(frame < snapshot.frames.size(), "a stack's frames are there");
  }
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i) check_recording(snapshot, i);
  Inquest inquest(rules());
  inquest.add(snapshot);
  const Diagnosis diagnosis = inquest.finish();
  for (const MemoryAccount& account : diagnosis.accounts) check_account(account);
  require(is_printable(diagnosis_text(diagnosis)), "nothing drives a terminal");
  require(!diagnosis_json(diagnosis).empty(), "a diagnosis is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  LogText file = LogText::from_memory({reinterpret_cast<const char*>(data), size});
  const Result<Snapshot> snapshot = read_snapshot(file, "fuzz");
  if (!snapshot) {
    check_refusal(snapshot.errors());
  } else {
    check(*snapshot);
  }
  return 0;
}
