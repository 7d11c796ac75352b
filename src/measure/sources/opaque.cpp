// Any file at all as one row with the one column `bytes`.
#include <vector>

#include "../canonical.hpp"
#include "../source.hpp"
#include "../value_bytes.hpp"

namespace oomplan::measure {
namespace {

class Opaque final : public RowSource {
 public:
  explicit Opaque(Input input) : input_(std::move(input)) {}

  Result<bool> next(RowBatch& out) override {
    if (done_) return false;
    done_ = true;
    std::string contents;  // only where they are wanted
    std::vector<char> piece(std::size_t{256} << 10);
    std::int64_t length = 0;
    while (true) {
      const Result<std::size_t> got = input_.bytes->read(piece.data(), piece.size());
      if (!got) return got.errors();
      if (*got == 0) break;
      length += static_cast<std::int64_t>(*got);
      if (input_.wanted.contents() && length <= most()) contents.append(piece.data(), *got);
    }
    if (input_.wanted.contents() && length > most()) {
      return over_budget({input_.path}, "a file of " + std::to_string(length) + " bytes as one row", length, most());
    }
    out.add_row(length, input_.wanted);
    if (input_.wanted.canonical) put(out.canonical, contents);
    if (input_.wanted.values) tell_row(out.values, contents);
    return true;
  }

 private:
  std::int64_t most() const { return input_.room.row / 2; }  // it is here twice for a moment, and may have just grown

  void put(CanonicalRows& canonical, std::string_view contents) {
    ByteBuffer& row = canonical.open();
    begin_object(row);
    if (input_.key->takes("bytes")) {
      put_name(row, "bytes");
      put_text(row, contents);
    }
    end_object(row);
    canonical.close();
  }

  static void tell_row(Texts& out, std::string_view contents) {
    ValueBytes values(out.open());
    values.begin_object();
    values.name("bytes");
    values.bytes(contents);
    values.end_object();
    out.close();
  }

  Input input_;
  bool done_ = false;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::opaque(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<Opaque>(std::move(input)));
}

}  // namespace oomplan::measure
