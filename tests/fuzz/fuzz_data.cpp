// Any bytes at all as a dataset: read three times within the budget, with one outcome; what the first byte says is the
// format.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "oomplan/measure/rows.hpp"
#include "process.hpp"
#include "require.hpp"

namespace {

using namespace oomplan;

constexpr std::int64_t for_rows = std::int64_t{96} << 20;
// A few hundred bytes of Parquet unpack to as much as one wants: the fuzzer would do nothing else.
constexpr std::int64_t most_decoded = std::int64_t{8} << 20;

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

/// Counts rows and looks at the nesting.
class Told final : public measure::Values {
 public:
  void null() override { value(); }
  void boolean(bool) override { value(); }
  void integer(std::int64_t) override { value(); }
  void large_integer(std::uint64_t) override { value(); }
  void number(double) override { value(); }
  void decimal(std::string_view digits) override { value(digits); }
  void text(std::string_view utf8) override { value(utf8); }
  void bytes(std::string_view bytes) override { value(bytes); }
  void time(const measure::Time& time) override {
    require(time.nanoseconds >= 0 && time.nanoseconds < 1'000'000'000, "nanoseconds are within a second");
    value();
  }
  void begin_list() override { begin('['); }
  void end_list() override { end('['); }
  void begin_object() override { begin('{'); }
  void name(std::string_view utf8) override {
    require(!open_.empty() && open_.back() == '{' && !named_, "a name is in an object");
    named_ = true;
    seen_ += utf8.size();
  }
  void end_object() override { end('{'); }
  bool stopped() const override { return values_ > 100'000; }
  bool whole() const { return open_.empty() || stopped(); }
  void reset() { open_.clear(), named_ = false, values_ = 0; }

 private:
  void value(std::string_view text = {}) {
    require(open_.empty() || (open_.back() == '{') == std::exchange(named_, false), "a value has a name in an object");
    ++values_, seen_ += text.size();
  }
  void begin(char kind) {
    value();
    open_ += kind;
  }
  void end(char kind) {
    require(!open_.empty() && open_.back() == kind && !named_, "what ends was begun");
    open_.pop_back();
  }

  std::string open_{};
  bool named_ = false;
  std::int64_t values_ = 0;
  std::size_t seen_ = 0;
};

enum class End { last_row, error, too_much };

/// Counts what is told, up to most_decoded bytes of rows.
End tell_all(const std::string& path, const measure::ReadOptions& options, std::int64_t& rows) {
  auto reader = measure::RowReader::of_values({path}, options);
  if (!reader) return End::error;
  Told told;
  while (true) {
    const Result<bool> more = reader->next();
    if (!more) return End::error;
    if (!*more) return End::last_row;
    if (reader->totals().decoded > most_decoded) return End::too_much;
    for (std::int64_t row = 0; row < reader->rows(); ++row, ++rows) {
      told.reset();
      reader->tell(row, told);
      require(told.whole(), "a row is told to its end");
    }
  }
}

/// A table of rows leaves less for each, and each reading finds the fuzzer larger than the one before.
bool for_budget(const Diagnostic& diagnostic) {
  return diagnostic.code == "measure/over-budget" || diagnostic.code == "measure/small-budget" ||
         diagnostic.code == "read/needs-memory";
}
bool refused(const Diagnostics& diagnostics) { return std::any_of(diagnostics.begin(), diagnostics.end(), for_budget); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto names = measure::format_names();
  const std::size_t which = data[0] % (names.size() + 1);
  const File file(data + 1, size - 1);
  std::int64_t skipped = 0;
  // The fuzzer's own memory counts too. What unpacks to gigabytes is refused as it would be for a user. A thread of its
  // own would take longer than most inputs.
  const Bytes budget(measure::memory_of_this_process().rss + for_rows);
  measure::ReadOptions options{.budget = budget, .threads = 1};
  if (which < names.size()) options.format = names[which];
  std::int64_t told = 0;
  const End end = tell_all(file.path(), options, told);
  if (end == End::too_much) return 0;
  const measure::StreamReport strict = measure::stream({file.path()}, options);
  if (end == End::last_row) require(strict.diagnostics.empty() && told == strict.totals.rows, "each row is told");
  options.skip_bad = true;
  bool refused_row = false;
  options.on_skip = [&](const Diagnostic& why) { ++skipped, refused_row |= for_budget(why); };
  const measure::DedupeReport lenient = measure::dedupe({file.path()}, {.read = options});
  if (refused_row || refused(strict.diagnostics) || refused(lenient.diagnostics)) return 0;
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
