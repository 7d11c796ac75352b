#include "built_in.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "data_program.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/embedded.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/read/unpackers.hpp"

namespace oomplan {
// What the build put in; the stages read it, and here it is only counted.
namespace catalog {
std::span<const EmbeddedFile> embedded_files();
}
namespace stacks {
std::span<const EmbeddedFile> embedded_files();
}
namespace ingestion {
std::span<const EmbeddedFile> embedded_files();
}
namespace diagnose {
std::span<const EmbeddedFile> embedded_files();
}
}  // namespace oomplan

namespace oomplan::cli {
namespace {

/// FNV-1a of the paths and of the files' own.
class Fingerprint {
 public:
  void add(std::span<const EmbeddedFile> files) {
    for (const EmbeddedFile& file : files) {
      for (const char c : file.path) add(static_cast<unsigned char>(c));
      for (int shift = 0; shift < 64; shift += 8) add(file.fingerprint >> shift & 0xFF);
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  void add(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }

  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

template <class T>
void note_problems(const Result<T>& read, Diagnostics& problems) {
  if (!read) problems.insert(problems.end(), read.errors().begin(), read.errors().end());
}

}  // namespace

BuiltIn built_in(const std::string& word) {
  BuiltIn out;
  Fingerprint data;
  for (const auto files :
       {catalog::embedded_files(), stacks::embedded_files(), ingestion::embedded_files(), diagnose::embedded_files()})
    data.add(files);
  out.data = data.text();
  out.models = known_models().size();
  out.gpus = known_gpus().size();
  const Result<Ladder> ladder = Ladder::load();
  note_problems(ladder, out.problems);
  if (ladder) out.fixes = ladder->ids().size();
  note_problems(Rulebook::load(), out.problems);
  for (const Unpacker& one : unpackers()) (one.built_in ? out.read : out.left_out).emplace_back(one.name);
#ifndef OOMPLAN_HAS_WATCH
  out.left_out.emplace_back("oomplan run");
#endif
  const std::string program = data_program(word);
  if (::access(program.c_str(), X_OK) == 0) out.data_program = program;
  return out;
}

}  // namespace oomplan::cli
