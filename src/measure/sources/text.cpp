// Plain text: a line is a row with the one column `text`.
#include <simdjson.h>

#include "../canonical.hpp"
#include "../records.hpp"
#include "../source.hpp"
#include "../value_bytes.hpp"

namespace oomplan::measure {
namespace {

class Text final : public RowSource {
 public:
  explicit Text(Input input)
      : input_(std::move(input)), records_(std::move(input_.bytes), input_.path, input_.room.row, lines_) {}

  Result<bool> next(RowBatch& out) override {
    while (out.weight() < input_.room.batch) {
      const Result<std::optional<Record>> line = records_.next();
      if (!line) return line.errors();
      if (!*line) break;
      if (Result<bool> added = add(**line, out); !added) return added.errors();
    }
    return out.rows > 0;
  }

 private:
  Result<bool> add(const Record& line, RowBatch& out) {
    if (line.refused != nullptr) return leave_out(input_.skip, *line.refused);
    std::string_view text = line.text;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (!simdjson::validate_utf8(text.data(), text.size()))
      return leave_out(input_.skip, bad_row(input_.path, line.number, line.offset, "this is not UTF-8"));
    out.add_row(static_cast<std::int64_t>(text.size()), input_.wanted);
    if (input_.wanted.canonical) put(out.canonical, text);
    if (input_.wanted.values) tell_row(out.values, text);
    return true;
  }

  void put(CanonicalRows& canonical, std::string_view text) {
    ByteBuffer& row = canonical.open();
    begin_object(row);
    if (input_.key->takes("text")) {
      put_name(row, "text");
      put_text(row, text);
    }
    end_object(row);
    canonical.close();
  }

  static void tell_row(Texts& out, std::string_view text) {
    ValueBytes values(out.open());
    values.begin_object();
    values.name("text");
    values.text(text);
    values.end_object();
    out.close();
  }

  Input input_;
  LineBoundary lines_;
  Records records_;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::text(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<Text>(std::move(input)));
}

}  // namespace oomplan::measure
