// JSON Lines: a value a line, whatever the lines before it had. Blank lines are no rows.
#include "../json_row.hpp"
#include "../records.hpp"
#include "../source.hpp"

namespace oomplan::measure {
namespace {

class JsonLines final : public RowSource {
 public:
  explicit JsonLines(Input input)
      : rows_(input), batch_(input.room.batch), records_(std::move(input.bytes), input.path, input.room.row, lines_) {}

  Result<bool> next(RowBatch& out) override {
    while (out.weight() < batch_) {
      Result<std::optional<Record>> line = records_.next();
      if (!line) return line.errors();
      if (!*line) break;
      const bool blank = (*line)->text.find_first_not_of(" \t\r") == std::string_view::npos;
      if (blank && (*line)->refused == nullptr) continue;
      Result<bool> added = rows_.add(**line, out);
      if (!added) return added.errors();
    }
    return out.rows > 0;
  }

 private:
  JsonRows rows_;
  std::int64_t batch_;
  LineBoundary lines_;
  Records records_;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::json_lines(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<JsonLines>(std::move(input)));
}

}  // namespace oomplan::measure
