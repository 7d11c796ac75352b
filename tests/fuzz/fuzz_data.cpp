// Any bytes at all as a dataset: read twice within the budget, with one outcome; what the first byte says is the
// format.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "oomplan/measure/rows.hpp"
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

/// How many rows are told; nothing where reading ends with an error.
std::optional<std::int64_t> told_rows(const std::string& path, const measure::ReadOptions& options) {
  auto reader = measure::RowReader::of_values({path}, options);
  if (!reader) return std::nullopt;
  Told told;
  std::int64_t rows = 0;
  while (true) {
    const Result<bool> more = reader->next();
    if (!more) return std::nullopt;
    if (!*more) return rows;
    for (std::int64_t row = 0; row < reader->rows(); ++row, ++rows) {
      told.reset();
      reader->tell(row, told);
      require(told.whole(), "a row is told to its end");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto names = measure::format_names();
  const std::size_t which = data[0] % (names.size() + 1);
  const File file(data + 1, size - 1);
  std::int64_t skipped = 0;
  // The fuzzer's own memory counts too. A thread of its own would take longer than most inputs.
  measure::ReadOptions options{.budget = Bytes::gib(8), .threads = 1};
  if (which < names.size()) options.format = names[which];
  const measure::StreamReport strict = measure::stream({file.path()}, options);
  const auto told = told_rows(file.path(), options);
  if (told) require(strict.diagnostics.empty() && *told == strict.totals.rows, "each row is told");
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
