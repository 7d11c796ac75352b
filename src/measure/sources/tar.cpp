// A tar shard as WebDataset has it: files that follow each other and have one name up to its first point are one row,
// with a column for each ending and `__key__`.
#include "../tar.hpp"

#include <map>
#include <vector>

#include "../canonical.hpp"
#include "../source.hpp"
#include "../value_bytes.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t of_entry = 128;  // a node of the map, beside the texts in it

struct Sample {
  std::string key{};
  std::int64_t size = 0;
  std::map<std::string, std::string> files{};  // by ending; contents only where they are wanted
  std::int64_t held = 0;                       // of what was kept of them
  bool left_out = false;
};

class TarShard final : public RowSource {
 public:
  explicit TarShard(Input input) : input_(std::move(input)), tar_(std::move(input_.bytes), input_.path) {}

  Result<bool> next(RowBatch& out) override {
    while (!ended_ && out.weight() < input_.room.batch) {
      const Result<std::optional<TarEntry>> entry = tar_.next();
      if (!entry) return entry.errors();
      ended_ = !*entry;
      if (Result<bool> taken = ended_ ? Result<bool>(true) : take(**entry, out); !taken) return taken.errors();
      if (ended_) finish(out);
    }
    return out.rows > 0;
  }

 private:
  std::int64_t most() const { return input_.room.row / 2; }

  Result<bool> take(const TarEntry& entry, RowBatch& out) {
    const std::size_t base = entry.name.rfind('/') + 1;  // npos + 1 is 0
    const std::size_t point = entry.name.find('.', base);
    const std::string key = entry.name.substr(0, point);
    const std::string ending = point == std::string::npos ? "" : entry.name.substr(point + 1);
    if (key != sample_.key || sample_.files.contains(ending)) {
      finish(out);
      sample_.key = key;
    }
    if (sample_.left_out) return false;
    sample_.size = saturating_add(sample_.size, entry.size);
    const auto named = static_cast<std::int64_t>(ending.size()) + of_entry;
    sample_.held = saturating_add(sample_.held, named + (input_.wanted.contents() ? entry.size : 0));
    if (sample_.held > most()) {
      sample_.left_out = true;
      sample_.files.clear();
      return leave_out(input_.skip, over_budget({input_.path}, "the sample '" + key + "'", sample_.held, most()));
    }
    return contents(sample_.files[ending]);
  }

  Result<bool> contents(std::string& out) {
    if (!input_.wanted.contents()) return true;
    std::vector<char> piece(std::size_t{64} << 10);
    while (true) {
      const Result<std::size_t> got = tar_.read(piece.data(), piece.size());
      if (!got) return got.errors();
      if (*got == 0) return true;
      out.append(piece.data(), *got);
    }
  }

  void finish(RowBatch& out) {
    if (!sample_.files.empty()) {
      out.add_row(sample_.size, input_.wanted);
      if (input_.wanted.canonical) put(out.canonical);
      if (input_.wanted.values) tell_row(out.values);
    }
    sample_ = {};
  }

  void put(CanonicalRows& canonical) {
    if (input_.key->takes("__key__")) sample_.files["__key__"] = sample_.key;
    ByteBuffer& row = canonical.open();
    begin_object(row);
    for (const auto& [name, bytes] : sample_.files) {
      if (!input_.key->takes(name)) continue;
      put_name(row, name);
      put_text(row, bytes);
    }
    end_object(row);
    canonical.close();
  }

  void tell_row(Texts& out) const {
    ValueBytes values(out.open());
    values.begin_object();
    values.name("__key__");
    values.text(sample_.key);
    for (const auto& [name, bytes] : sample_.files) {
      values.name(name);
      values.bytes(bytes);
    }
    values.end_object();
    out.close();
  }

  Input input_;
  Tar tar_;
  Sample sample_{};
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::tar(Input input) {
  return std::unique_ptr<RowSource>(std::make_unique<TarShard>(std::move(input)));
}

}  // namespace oomplan::measure
