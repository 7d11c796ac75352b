#include "oomplan/read/event_list.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "byte_source.hpp"
#include "event_line.hpp"
#include "live_ids.hpp"

namespace oomplan {
namespace {

constexpr std::size_t piece = std::size_t{1} << 18;
constexpr std::size_t longest_line = 256;

/// The lines of a stream, as many at a time as fit in memory.
class Lines {
 public:
  Lines(std::unique_ptr<read::ByteSource> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), buffer_(piece) {}

  /// Whole lines with their ends; empty at the end of the stream or where a line is too long, and rest() is what is
  /// left.
  Result<std::string_view> next() {
    std::memmove(buffer_.data(), buffer_.data() + used_, end_ - used_);
    end_ -= std::exchange(used_, 0);
    while (end_ < buffer_.size()) {
      const auto got = read_bytes();
      if (!got) return got.errors();
      const std::string_view fresh(buffer_.data() + end_, *got);
      end_ += *got;
      const std::size_t last = fresh.rfind('\n');
      if (last != std::string_view::npos) used_ = end_ - *got + last + 1;
      if (*got == 0 || used_ > 0 || end_ > longest_line) break;
    }
    return std::string_view(buffer_.data(), used_);
  }

  std::string_view rest() const { return {buffer_.data() + used_, end_ - used_}; }

 private:
  /// The first piece says whether the list is packed.
  Result<std::size_t> read_bytes() {
    if (packed_) {
      Result<std::unique_ptr<read::ByteSource>> plain = read::unpacked(std::move(packed_), name_);
      if (!plain) return plain.errors();
      plain_ = std::move(*plain);
    }
    return plain_->read(buffer_.data() + end_, buffer_.size() - end_);
  }

  std::unique_ptr<read::ByteSource> packed_;  // until the first piece is read
  std::unique_ptr<read::ByteSource> plain_{};
  std::string name_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;  // whole lines handed out
  std::size_t end_ = 0;
};

}  // namespace

struct EventList::State {
  State(std::string list, const EventBudget& most, std::unique_ptr<read::ByteSource> bytes)
      : name(std::move(list)), budget(most), lines(std::move(bytes), name) {}

  std::string name{};
  EventBudget budget{};
  Lines lines;
  read::LiveIds live{};
  std::int64_t lines_before = 0;
  std::int64_t line = 0;  // the latest one read, from 1

  Diagnostic error(std::string_view text, std::size_t column, std::string code, std::string message) const {
    return {.code = std::move(code),
            .message = std::move(message),
            .where = {name, static_cast<int>(std::min<std::int64_t>(line, 1 << 30)), static_cast<int>(column)},
            .excerpt = std::string(text.substr(0, longest_line))};
  }

  Diagnostics at_end() {
    const std::string_view rest = lines.rest();
    ++line;
    if (rest.size() > longest_line) return {error(rest, 1, "read/bad-event", "this is too long for an event")};
    if (!rest.empty()) {
      return {error(rest, rest.size(), "read/truncated",
                    "the file ends within a line: it is cut off, or lacks a line end")};
    }
    if (line == 1) return {error({}, 0, "read/empty", "there is no event in it")};
    return {};
  }

  /// Gives the event its slot.
  bool settle(const read::EventLine& read, Event& event) {
    event = {read.kind, 0, read.value};
    if (read.kind != Event::Kind::allocate && read.kind != Event::Kind::free) return true;
    const auto slot = read.kind == Event::Kind::allocate ? live.add(read.id) : live.remove(read.id);
    event.slot = slot.value_or(0);
    return slot.has_value() && live.size() <= budget.live;
  }

  Diagnostic unsettled(std::string_view text, const read::EventLine& read) const {
    const std::string id = std::to_string(read.id);
    if (read.kind == Event::Kind::free) {
      return error(text, 3, "read/not-live", "frees " + id + ", which was never allocated or is freed already");
    }
    if (live.size() <= budget.live)
      return error(text, 3, "read/still-live", "allocates " + id + ", which is not freed yet");
    return error(text, 1, "read/too-large", "more than " + std::to_string(budget.live) + " allocations at one time");
  }

  Diagnostics parse(std::string_view text, std::vector<Event>& out) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view at = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (at.ends_with('\r')) at.remove_suffix(1);
      ++line;
      read::EventLine read;
      read::BadEvent bad;
      if (!read::parse_event(at, read, bad)) return {error(at, bad.column, "read/bad-event", bad.message)};
      if (!settle(read, out.emplace_back())) return {unsettled(at, read)};
    }
    return {};
  }
};

EventList::EventList(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventList::EventList(EventList&&) noexcept = default;
EventList& EventList::operator=(EventList&&) noexcept = default;
EventList::~EventList() = default;

Result<EventList> EventList::open(const std::string& path, const EventBudget& budget) {
  Result<read::Descriptor> file = read::open_file(path);
  if (!file) return file.errors();
  return EventList(std::make_unique<State>(path, budget, read::bytes_of(std::move(*file), path)));
}

EventList EventList::from_descriptor(int descriptor, const std::string& name, const EventBudget& budget) {
  return EventList(std::make_unique<State>(name, budget, read::bytes_of(descriptor, name)));
}

EventList EventList::from_memory(std::string_view memory, const std::string& name, const EventBudget& budget) {
  return EventList(std::make_unique<State>(name, budget, read::bytes_of(memory)));
}

Diagnostics EventList::next(std::vector<Event>& out) {
  out.clear();
  State& state = *state_;
  state.lines_before = state.line;
  const Result<std::string_view> text = state.lines.next();
  if (!text) return text.errors();
  return text->empty() ? state.at_end() : state.parse(*text, out);
}

std::int64_t EventList::lines_before() const { return state_->lines_before; }

}  // namespace oomplan
