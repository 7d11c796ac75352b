// What a terminal wants: a pseudo-terminal for the job's output, and the foreground for its process group.
#pragma once

#include <string>

#include "descriptor.hpp"

namespace oomplan::watching {

/// Both ends of a way from the job to us.
struct Channel {
  Descriptor read{};
  Descriptor write{};
};

/// A pipe; where `like` is a terminal, a pseudo-terminal of its size that passes bytes unchanged. Neither end open
/// where the system refuses.
Channel channel_like(int like);

/// Whether what is written to either comes out in one place: a pipe, a file, a terminal under whatever names. Through
/// two channels the order of what is written to both would be lost.
bool lead_to_one(int out, int err);

/// Gives the pseudo-terminal at `channel` the size of the terminal at `like`; whether it had another.
bool copy_size(int channel, int like);

/// Whether the terminal is ours to hand on: it is all of standard input, output and error, so that no neighbour in a
/// pipeline needs it, and belongs to this process group.
bool has_foreground();

/// Whether a shell waits at a terminal for us, and would let us go on after a stop.
bool has_shell();

/// Gives the terminal of standard input to a process group, as a shell does. SIGTTOU must be blocked.
void give_foreground(int group);

/// Takes it back from that group, where it has it.
void take_foreground_from(int group);

}  // namespace oomplan::watching
