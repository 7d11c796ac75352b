// From lines to evidence: which sentences stand in them, with what values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "rules.hpp"
#include "sentence.hpp"

namespace oomplan::diagnose {

/// `files` are the names of the logs, by Line::file. Evidence comes in the order of the lines.
std::vector<Evidence> read_lines(const Rules& rules, const std::vector<Line>& lines,
                                 const std::vector<std::string>& files);

// What a sentence of general words means is told by where it stands: "out of memory" under a traceback is a failure,
// in a page of advice it is none.

/// Whether the line is a frame of a traceback: `File "train.py", line 3`, `----> 3 train()`, `❱ 3 │ train()`.
bool is_frame(std::string_view text);

/// Whether a frame, or the place of Rust's panic, is in the few lines above, or on the line itself.
bool below_frame(const std::vector<Line>& lines, std::size_t index);

/// Whether the line begins with an exception's name, as the last of a traceback that was cut does: "ValueError: …".
bool begins_with_exception(std::string_view text);

/// The name on the first line after a traceback's frames, whatever exception it is: "pyarrow.lib.ArrowInvalid: …".
std::optional<std::string_view> exception_below_frame(const std::vector<Line>& lines, std::size_t index);

/// The level of glog's prefix, "E1101 10:00:00 model.cc:123] ".
std::optional<char> glog_level(std::string_view text);

/// Whether a sentence counts only so.
bool is_general(const Sentence& sentence);

/// An exception whose text may be what another reported.
bool passes_on(const Sentence& sentence);

/// Whether the line stands as a failure's does: below a frame of a traceback, or as the report of an error in words
/// that advise nothing, or as a statement that begins with the sentence, which is `match` bytes long from `begin` on.
/// A sentence that adds `last_word` has to begin one of the log's last lines.
bool stands_as_failure(const std::vector<Line>& lines, std::size_t index, const Sentence& sentence, std::size_t begin,
                       std::size_t match);

/// The line of the log that `at` stands in, in a body that several were joined to.
std::string_view line_around(std::string_view text, std::size_t at);

/// Whether words of a GPU are on the line.
bool speaks_of_gpu(std::string_view text);

/// Whether the word "memory", or one that stands for it, is on the line.
bool speaks_of_memory(std::string_view text);

/// A row of YOLO's table where no bar is drawn behind it: epoch, GPU_mem, losses, instances, size. As facts step, steps
/// and step_reserved.
std::optional<std::vector<Reading>> epoch_row(std::string_view body);

// The kernel's table of tasks, one row a process.

/// The row in `body` as facts row_pid, rss_pages, swapents, row_comm. The column sets of 2.6 to 6.x are told apart by
/// their number: `total_vm rss nr_ptes [nr_pmds] swapents`, `.. pgtables_bytes swapents`, `.. rss_anon rss_file
/// rss_shmem ..`.
std::optional<std::vector<Reading>> task_row(std::string_view body);

}  // namespace oomplan::diagnose
