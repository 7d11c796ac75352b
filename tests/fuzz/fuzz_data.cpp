// Any bytes at all as a dataset: read twice within the budget, with one outcome; what the first byte says is the
// format.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "oomplan/measure.hpp"
#include "require.hpp"

namespace {

using namespace oomplan;

/// A file in memory, under a path.
class File {
 public:
  File(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("dataset", 0)) {
    require(::write(descriptor_, data, size) == static_cast<ssize_t>(size), "the file is written");
  }
  ~File() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto names = measure::format_names();
  const std::size_t which = data[0] % (names.size() + 1);
  const File file(data + 1, size - 1);
  std::int64_t skipped = 0;
  measure::ReadOptions options{.budget = Bytes::gib(8)};  // the fuzzer's own memory counts too
  if (which < names.size()) options.format = names[which];
  const measure::StreamReport strict = measure::stream({file.path()}, options);
  options.skip_bad = true;
  options.on_skip = [&](const Diagnostic&) { ++skipped; };
  const measure::DedupeReport lenient = measure::dedupe({file.path()}, {.read = options});
  require(strict.totals.rows <= lenient.totals.rows, "who skips reads no fewer rows");
  if (strict.diagnostics.empty()) {
    require(lenient.totals.rows == strict.totals.rows, "the same rows");
    require(skipped == 0 || !lenient.diagnostics.empty(), "nothing was skipped");
  }
  if (lenient.diagnostics.empty()) {
    require(lenient.unique + lenient.duplicates == lenient.totals.rows, "each row is one or the other");
    require(lenient.totals.rows == 0 || lenient.unique > 0, "the first is unique");
  }
  return 0;
}
