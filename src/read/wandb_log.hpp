// What a run printed, out of the file that Weights & Biases writes of it (run-ID.wandb).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "oomplan/read/byte_source.hpp"

namespace oomplan::read {

/// Whether bytes that begin like this are such a file.
bool is_wandb_log(std::string_view begun);

/// Everything, or only how the run ended: what it printed may stand beside it, in the terminal's copy.
enum class WandbPart { all, ending };

/// The text of its console records, in their order, and a line for the exit code at the end. A record that is damaged,
/// or larger than a MiB, is left out; where the file is cut, what stands before is given. Never fails by itself.
/// Source: wandb, sdk/internal/datastore.py (LevelDB's log format, CRC-32) and proto/wandb_internal.proto.
std::unique_ptr<ByteSource> console_of_wandb(std::unique_ptr<ByteSource> file, std::string begun,
                                             WandbPart part = WandbPart::all);

}  // namespace oomplan::read
