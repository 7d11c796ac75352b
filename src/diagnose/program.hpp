// A sentence with typed holes, compiled: a small program for a matcher that backtracks within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

enum class HoleType {
  size,       ///< "19.75 MiB", "0 bytes", "26184840kB", "64Gi", "2.94 MiBis": units are binary.
  gibibytes,  ///< A bare number of GiB.
  mebibytes,  ///< A bare number of MiB.
  kibibytes,  ///< A bare number of KiB.
  bytes,      ///< A bare number of bytes.
  integer,
  real,
  device,  ///< A device number; PyTorch 2.3 streamed it as a raw character, so nothing or a control character too.
  signal,  ///< "-9", "9", "SIGKILL", "Killed", "Bus error": becomes "SIGKILL".
  status,  ///< "0:125": an exit code and a signal, as Slurm writes them.
  word,    ///< No white space.
  text,    ///< Anything on the line, up to 1 KiB.
};
std::optional<HoleType> hole_type_named(std::string_view name);

struct Hole {
  std::string name{};  ///< Empty where the value is of no interest.
  HoleType type = HoleType::word;
};

struct Instruction {
  enum class Kind { literal, hole, split, jump, match };
  Kind kind = Kind::match;
  std::string literal{};
  Hole hole{};
  std::ptrdiff_t next = 1;   ///< From here to the next instruction; of a split, to the branch tried first.
  std::ptrdiff_t other = 0;  ///< Of a split: to the branch tried then.
};

using Program = std::vector<Instruction>;

/// Whether letters must stand as the sentence has them. For `any`, the sentence is written in small letters.
enum class Letters { as_written, any };

/// Compiles a template: `{name:type}` a hole, `{:type}` one whose value is dropped, `<<a|b>>` alternatives, `<<a>>?` an
/// optional part, `<<a>>*` a repeated one; a space stands for any white space. The error is a sentence.
struct Compiled {
  Program program{};
  std::string error{};
};
Compiled compile(std::string_view pattern);

/// The literals that every match holds, outside of optional parts, longest runs; white space in them is one space.
std::vector<std::string> required_literals(const Program& program);

}  // namespace oomplan::diagnose
