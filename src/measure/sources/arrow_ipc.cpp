// Arrow IPC, read from front to end: a stream, or a file, which is a stream between two marks and with an index behind
// it. A record batch is one piece of memory; one that the budget does not hold is refused.
#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>

#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "../arrow_errors.hpp"
#include "../arrow_metadata.hpp"
#include "../columns.hpp"
#include "../pool.hpp"
#include "../source.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

constexpr std::string_view file_mark = "ARROW1";
constexpr std::size_t file_end = 4 + file_mark.size();  // the footer's length and the mark

/// A ByteSource as Arrow reads. It remembers the error that Arrow knows no words for.
class Stream final : public arrow::io::InputStream {
 public:
  Stream(std::unique_ptr<read::ByteSource> bytes, LimitedPool& pool) : bytes_(std::move(bytes)), pool_(pool) {}
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  bool closed() const override { return closed_; }

  arrow::Result<std::int64_t> Read(std::int64_t most, void* out) override {
    std::int64_t have = 0;
    while (have < most) {
      const Result<std::size_t> got =
          bytes_->read(static_cast<char*>(out) + have, static_cast<std::size_t>(most - have));
      if (!got) {
        errors_ = got.errors();
        return arrow::Status::IOError("reading failed");
      }
      if (*got == 0) break;
      note({static_cast<char*>(out) + have, *got});
      have += static_cast<std::int64_t>(*got);
    }
    at_ += have;
    ended_ = have < most;
    return have;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t most) override {
    if (most < 0) return arrow::Status::Invalid("a negative length");
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(most, &pool_));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t got, Read(most, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got, false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  const Diagnostics& errors() const { return errors_; }
  std::string_view last_bytes() const { return last_; }
  std::int64_t position() const { return at_; }
  /// The last read wanted more than there was.
  bool ended() const { return ended_; }

 private:
  void note(std::string_view bytes) {
    last_ += bytes.substr(bytes.size() - std::min(bytes.size(), file_end));
    if (last_.size() > file_end) last_.erase(0, last_.size() - file_end);
  }

  std::unique_ptr<read::ByteSource> bytes_;
  LimitedPool& pool_;
  Diagnostics errors_{};
  std::string last_{};
  std::int64_t at_ = 0;
  bool closed_ = false;
  bool ended_ = false;
};

/// Hands on message after message, once what Arrow makes of it is reserved in the pool.
class Messages final : public arrow::ipc::MessageReader {
 public:
  /// `what` says, while a message is read, what of it may be refused.
  Messages(std::shared_ptr<Stream> stream, LimitedPool& pool, bool contents, std::string& what)
      : stream_(std::move(stream)), pool_(pool), contents_(contents), what_(what) {}

  arrow::Result<std::unique_ptr<arrow::ipc::Message>> ReadNextMessage() override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t length, metadata_length());
    if (length == 0) return nullptr;
    what_ = "a message's metadata";
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> metadata, stream_->Read(length));
    if (metadata->size() != length) return arrow::Status::Invalid("the metadata is cut");
    const MessageCost cost = cost_of_message({metadata->data_as<char>(), static_cast<std::size_t>(length)}, contents_);
    ARROW_RETURN_NOT_OK(reserve(cost));
    std::shared_ptr<arrow::Buffer> body;
    if (cost.kind != MessageCost::Kind::schema) {
      ARROW_ASSIGN_OR_RAISE(body, stream_->Read(cost.body));
      if (body->size() != cost.body) return arrow::Status::Invalid("the body of a message is cut");
    }
    auto message = arrow::ipc::Message::Open(std::move(metadata), std::move(body));
    if (message.ok()) what_.clear();
    return message;
  }

 private:
  /// 0 at the end.
  arrow::Result<std::int64_t> metadata_length() {
    std::int32_t number = 0;
    ARROW_ASSIGN_OR_RAISE(std::int64_t got, stream_->Read(sizeof number, &number));
    if (got == 0) return 0;
    if (got == sizeof number && number == -1) {  // the mark that stands before it since Arrow 0.15
      ARROW_ASSIGN_OR_RAISE(got, stream_->Read(sizeof number, &number));
    }
    if (got != sizeof number || number < 0) return arrow::Status::Invalid("a message has no length");
    return number;
  }

  arrow::Status reserve(const MessageCost& cost) {
    what_ = what_of(cost);
    if (cost.kind == MessageCost::Kind::batch) {
      ARROW_RETURN_NOT_OK(pool_.reserve(-std::exchange(batch_, 0)));
      ARROW_RETURN_NOT_OK(pool_.reserve(cost.bytes));
      batch_ = cost.bytes;
      return arrow::Status::OK();
    }
    // What a batch will take is refused now, with all that is needed.
    ARROW_RETURN_NOT_OK(pool_.reserve(cost.bytes + cost.columns));
    ARROW_RETURN_NOT_OK(pool_.reserve(-cost.bytes - cost.columns));
    std::int64_t& held = dictionaries_[cost.dictionary];
    const bool replaces = cost.kind == MessageCost::Kind::dictionary && !cost.added;
    ARROW_RETURN_NOT_OK(pool_.reserve(cost.bytes - (replaces ? held : 0)));
    held = replaces ? cost.bytes : held + cost.bytes;
    return arrow::Status::OK();
  }

  static std::string what_of(const MessageCost& cost) {
    if (cost.kind == MessageCost::Kind::schema) return "the schema of " + counted(cost.fields, "field");
    return cost.kind == MessageCost::Kind::dictionary ? "a dictionary"
                                                      : "a record batch of " + counted(cost.fields, "column");
  }

  std::shared_ptr<Stream> stream_;
  LimitedPool& pool_;
  bool contents_;
  std::string& what_;
  std::int64_t batch_ = 0;                                         // of the one at hand
  std::unordered_map<std::int64_t, std::int64_t> dictionaries_{};  // by their numbers
};

class ArrowIpc final : public RowSource {
 public:
  explicit ArrowIpc(Input input)
      : path_(input.path),
        contents_(input.wanted.contents()),
        pool_(input.room.pool),
        slices_(input),
        stream_(std::make_shared<Stream>(std::move(input.bytes), pool_)) {}

  Result<bool> open() {
    // Of a file's 8 bytes of mark the stream knows nothing; a stream begins with its continuation mark.
    std::array<char, 8> begin{};
    const auto got = stream_->Read(begin.size(), begin.data());
    if (!got.ok()) return failed("the beginning", got.status());
    const std::string_view begun(begin.data(), static_cast<std::size_t>(*got));
    is_file_ = begun.starts_with(file_mark);
    if (!is_file_)
      stream_ = std::make_shared<Stream>(read::put_back(std::make_unique<Rest>(stream_), std::string(begun)), pool_);
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = &pool_;
    options.use_threads = false;
    auto messages = std::make_unique<Messages>(stream_, pool_, contents_, what_);
    auto opened = arrow::ipc::RecordBatchStreamReader::Open(std::move(messages), options);
    if (!opened.ok()) return failed("the schema", opened.status());
    reader_ = *opened;
    return true;
  }

  Result<bool> next(RowBatch& out) override {
    while (slices_.empty()) {
      std::shared_ptr<arrow::RecordBatch> batch;
      ++batches_;
      arrow::Status status = reader_->ReadNext(&batch);
      if (status.ok() && batch) status = batch->ValidateFull();
      if (!status.ok()) return failed("record batch " + std::to_string(batches_), status);
      if (!batch) return whole();
      slices_.put(std::move(batch));
    }
    return slices_.next(out);
  }

 private:
  /// What the first stream leaves, for a second one.
  class Rest final : public read::ByteSource {
   public:
    explicit Rest(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    Result<std::size_t> read(char* out, std::size_t most) override {
      const auto got = stream_->Read(static_cast<std::int64_t>(most), out);
      if (!got.ok()) return stream_->errors();
      return static_cast<std::size_t>(*got);
    }

   private:
    std::shared_ptr<Stream> stream_;
  };

  /// At the end of the batches: false, unless the file was cut.
  Result<bool> whole() {
    if (stream_->ended()) return cut("the Arrow stream lacks the mark of its end");
    const std::int64_t end = stream_->position();
    std::array<char, 4096> piece;
    while (true) {
      const auto got = stream_->Read(piece.size(), piece.data());
      if (!got.ok()) return failed("the end", got.status());
      if (*got == 0) break;
    }
    const std::string_view last = stream_->last_bytes();
    if (is_file_ && !last.ends_with(file_mark)) return cut("the Arrow file lacks its end");
    std::uint32_t footer = 0;
    if (is_file_ && last.size() == file_end) std::memcpy(&footer, last.data(), sizeof footer);
    const std::int64_t known = is_file_ ? static_cast<std::int64_t>(footer) + static_cast<std::int64_t>(file_end) : 0;
    if (stream_->position() - end <= known) return false;
    return bad_file(path_, "other bytes stand between the end of the rows at byte " + std::to_string(end) +
                               " and the end of the file; only one Arrow stream or file can be in one");
  }

  Diagnostic cut(const std::string& message) const {
    return {.code = "read/truncated",
            .message = message,
            .where = {path_},
            .hint = "--on-error skip keeps what stands before"};
  }

  Diagnostics failed(const std::string& what, const arrow::Status& status) const {
    if (!stream_->errors().empty()) return stream_->errors();
    if (stream_->ended() && pool_.refused() == 0) return {cut("the file ends within " + what)};
    const bool of_message = pool_.refused() > 0 && !what_.empty();
    return {arrow_error(path_, of_message ? what_ : what, status.message(), pool_)};
  }

  std::string path_;
  bool contents_;
  LimitedPool pool_;
  Slices slices_;
  std::string what_{};
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_{};
  bool is_file_ = false;
  std::int64_t batches_ = 0;
};

}  // namespace

Result<std::unique_ptr<RowSource>> sources::arrow_ipc(Input input) {
  auto source = std::make_unique<ArrowIpc>(std::move(input));
  if (Result<bool> opened = source->open(); !opened) return opened.errors();
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace oomplan::measure
