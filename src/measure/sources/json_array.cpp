// One JSON array, whose elements are the rows; one element at a time is in memory.
#include "../json_row.hpp"
#include "../records.hpp"
#include "../source.hpp"

namespace oomplan::measure {
namespace {

/// A comma or bracket outside of all strings and brackets of the element.
class ElementBoundary final : public Boundary {
 public:
  void reset() override {
    depth_ = 0;
    in_string_ = escaped_ = false;
  }
  std::size_t end_of(std::string_view text, std::size_t from) override {
    for (std::size_t i = from; i < text.size(); ++i) {
      if (ends(text[i])) return i;
    }
    return std::string_view::npos;
  }

 private:
  bool ends(char c) {
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
      return false;
    }
    if (c == '"') in_string_ = true;
    if (c == '[' || c == '{') ++depth_;
    if (depth_ == 0) return c == ',' || c == ']';
    if (c == ']' || c == '}') --depth_;
    return false;
  }
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

class JsonArray final : public RowSource {
 public:
  explicit JsonArray(Input input)
      : path_(input.path),
        rows_(input),
        batch_(input.room.batch),
        records_(std::move(input.bytes), input.path, input.room.row, elements_) {}

  Result<bool> next(RowBatch& out) override {
    if (!begun_) {
      const Result<char> first = records_.next_byte();
      if (!first) return first.errors();
      if (*first != '[') return bad_file(path_, "this is no JSON array: it does not begin with [");
      begun_ = true;
    }
    while (!ended_ && out.weight() < batch_) {
      if (Result<bool> taken = element(out); !taken) return taken.errors();
    }
    return out.rows > 0;
  }

 private:
  Result<bool> element(RowBatch& out) {
    const Result<std::optional<Record>> read = records_.next();
    if (!read) return read.errors();
    if (!*read || (*read)->end == '\0') {
      ended_ = true;
      return Diagnostic{.code = "read/truncated", .message = "the file ends within the JSON array", .where = {path_}};
    }
    const Record record = **read;
    ended_ = record.end == ']';
    const bool empty_array = ended_ && record.number == 1 && record.refused == nullptr && blank(record.text);
    if (!empty_array) {
      if (Result<bool> added = rows_.add(record, out); !added) return added.errors();
    }
    return ended_ ? nothing_follows() : Result<bool>(true);
  }

  Result<bool> nothing_follows() {
    const Result<char> after = records_.next_byte();
    if (!after) return after.errors();
    if (*after == '\0') return true;
    Diagnostic error = bad_file(path_, "there is more behind the end of the JSON array");
    error.hint = "where each line is an array of its own: --format json-lines";
    return error;
  }

  std::string path_;
  JsonRows rows_;
  std::int64_t batch_;
  ElementBoundary elements_;
  Records records_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::json_array(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<JsonArray>(std::move(input)));
}

}  // namespace oomplan::measure
