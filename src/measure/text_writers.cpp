// Lines of text: JSON, or numbers of rows.
#include <zstd.h>

#include <vector>

#include "canonical.hpp"
#include "output_file.hpp"
#include "row_writer.hpp"

namespace oomplan::measure {
namespace {

/// Text to a file, packed where that is wanted, in pieces.
class Lines {
 public:
  Lines(OutputFile file, bool packed) : file_(std::move(file)), context_(packed ? ZSTD_createCCtx() : nullptr) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { ZSTD_freeCCtx(context_); }

  const std::string& path() const { return file_.path(); }
  Result<bool> add(std::string_view line) {
    waiting_ += line;
    waiting_ += '\n';
    return waiting_.size() < piece ? Result<bool>(true) : put(false);
  }
  Result<bool> finish() {
    if (Result<bool> written = put(true); !written) return written;
    return file_.publish();
  }

 private:
  static constexpr std::size_t piece = std::size_t{256} << 10;

  Result<bool> put(bool last) {
    const Result<bool> written = context_ ? pack(last) : file_.write(waiting_);
    waiting_.clear();
    return written;
  }
  Result<bool> pack(bool last) {
    ZSTD_inBuffer in{waiting_.data(), waiting_.size(), 0};
    std::vector<char> packed(ZSTD_CStreamOutSize());
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left))
        return Diagnostic{.code = "cli/bug", .message = ZSTD_getErrorName(left), .where = {path()}};
      if (Result<bool> written = file_.write({packed.data(), out.pos}); !written) return written;
      done = last ? left == 0 : in.pos == in.size;
    }
    return true;
  }

  OutputFile file_;
  ZSTD_CCtx* context_;
  std::string waiting_{};
};

class JsonLinesWriter final : public RowWriter {
 public:
  JsonLinesWriter(OutputFile file, bool packed) : lines_(std::move(file), packed) {}
  Result<bool> finish() override { return lines_.finish(); }
  Result<bool> write(const RowBatch& batch, std::int64_t first, const RowSet& left_out) override {
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      if (left_out.contains(first + i)) continue;
      if (Result<bool> added = add(batch, static_cast<std::size_t>(i)); !added) return added;
    }
    return true;
  }

 private:
  Result<bool> add(const RowBatch& batch, std::size_t i) {
    if (batch.text.size() > 0) return add_text(batch.text[i]);
    const auto json = canonical_as_json(batch.canonical[i]);
    if (json) return lines_.add(*json);
    return Diagnostic{.code = "measure/not-text",
                      .message = "a row holds bytes that are not UTF-8, which JSON cannot",
                      .where = {lines_.path()},
                      .hint = "a .parquet output holds them, of Parquet and Arrow inputs"};
  }
  /// As it stands. Elements of an array may be laid out over several lines; a line end is only ever between tokens.
  Result<bool> add_text(std::string_view text) {
    while (text.ends_with('\r') || text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
    if (text.find_first_of("\r\n") == std::string_view::npos) return lines_.add(text);
    std::string line(text);
    for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
    return lines_.add(line);
  }

  Lines lines_;
};

class IndexWriter final : public RowWriter {
 public:
  explicit IndexWriter(OutputFile file) : lines_(std::move(file), false) {}
  Result<bool> finish() override { return lines_.finish(); }
  Result<bool> write(const RowBatch& batch, std::int64_t first, const RowSet& left_out) override {
    for (std::int64_t row = first; row < first + batch.rows; ++row) {
      if (left_out.contains(row)) continue;
      if (Result<bool> added = lines_.add(std::to_string(row)); !added) return added;
    }
    return true;
  }

 private:
  Lines lines_;
};

}  // namespace

Result<std::unique_ptr<RowWriter>> json_lines_writer(const std::string& path) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.errors();
  return std::unique_ptr<RowWriter>(std::make_unique<JsonLinesWriter>(std::move(*file), path.ends_with(".zst")));
}

Result<std::unique_ptr<RowWriter>> index_writer(const std::string& path) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.errors();
  return std::unique_ptr<RowWriter>(std::make_unique<IndexWriter>(std::move(*file)));
}

}  // namespace oomplan::measure
