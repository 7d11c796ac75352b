#include "pickle.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "pickle_builder.hpp"
#include "pickle_input.hpp"
#include "pickle_opcodes.hpp"

namespace oomplan::read {
namespace {

using Value = PickleValue;
using Kind = PickleValue::Kind;

/// Of CPython's machine the part that makes data: a stack, marks on it, a memo.
class Machine {
 public:
  Machine(ByteSource& bytes, const std::string& name, const PickleBudget& budget)
      : input_(bytes, budget.text + 16), name_(name), budget_(budget) {}

  Result<PickleTree> run() {
    while (!error_ && !done_) {
      at_ = input_.offset();
      step(input_.number<std::uint8_t>());
      if (input_.lacked()) return cut_off();
      if ((++steps_ & 0xFFFU) == 0) check_budget();
    }
    check_budget();
    if (error_) return *error_;
    return std::move(builder_).finish(stack_.back());
  }

 private:
  /// What the last op made of the bytes that were not there does not count.
  Diagnostics cut_off() {
    if (!input_.errors().empty()) return input_.errors();
    error_.reset();
    fail("read/truncated", "the file ends within the pickle");
    return {*error_};
  }

  void fail(std::string code, const std::string& message) {
    if (error_) return;
    error_ = {.code = std::move(code),
              .message = message + " (at byte " + std::to_string(at_) + ")",
              .where = {name_},
              .hint = {}};
  }
  void bad(const std::string& message) { fail("read/bad-pickle", message); }

  void check_budget() {
    const std::size_t own = 4 * (stack_.size() + memo_.size());
    if (builder_.memory() + own > budget_.memory || !builder_.has_room()) {
      fail("read/too-large", "the pickle holds more than any memory snapshot");
    }
  }

  void push(Value value) { stack_.push_back(value); }

  /// The last values, where there are so many above the last mark.
  std::span<const Value> top(std::size_t count) {
    if (stack_.size() - floor() >= count) return stack_.last(count);
    bad("an opcode needs more values than there are");
    return {};
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void drop(std::size_t count) { stack_.cut(stack_.size() - count); }

  std::span<const Value> above_mark() {
    if (!marks_.empty()) return stack_.last(stack_.size() - marks_.back());
    bad("an opcode needs a mark, and there is none");
    return {};
  }
  void drop_mark() {
    if (marks_.empty()) return;
    stack_.cut(marks_.back());
    marks_.pop_back();
  }

  void mark() {
    if (marks_.size() == budget_.marks)
      return fail("read/too-deep", "marks stand deeper in one another than in any data");
    marks_.push_back(stack_.size());
  }

  /// What stands under `items`, if it is of the kind.
  std::optional<Value> under(std::size_t below_mark, std::size_t items_at, Kind kind) {
    if (items_at > below_mark && stack_[items_at - 1].kind() == kind) return stack_[items_at - 1];
    bad("what should be extended is no list or dict");
    return std::nullopt;
  }
  std::size_t floor_below() const { return marks_.size() < 2 ? 0 : marks_[marks_.size() - 2]; }

  void append() {
    if (top(2).empty()) return;
    const auto list = under(floor(), stack_.size() - 1, Kind::list);
    if (list) builder_.extend_list(*list, stack_.last(1));
    drop(1);
  }
  void appends() {
    const std::span<const Value> items = above_mark();
    if (error_) return;
    const auto list = under(floor_below(), marks_.back(), Kind::list);
    if (list) builder_.extend_list(*list, items);
    drop_mark();
  }
  void set_item() {
    if (top(3).empty()) return;
    const auto dict = under(floor(), stack_.size() - 2, Kind::dict);
    if (dict) builder_.extend_dict(*dict, stack_.last(2));
    drop(2);
  }
  void set_items() {
    const std::span<const Value> pairs = above_mark();
    if (error_) return;
    if (pairs.size() % 2 != 0) return bad("a dict's keys and values are not pairs");
    const auto dict = under(floor_below(), marks_.back(), Kind::dict);
    if (dict) builder_.extend_dict(*dict, pairs);
    drop_mark();
  }

  void list_of_marked() {
    const std::span<const Value> items = above_mark();
    if (error_) return;
    const Value list = builder_.container(Kind::list);
    builder_.extend_list(list, items);
    drop_mark();
    push(list);
  }
  void dict_of_marked() {
    const std::span<const Value> pairs = above_mark();
    if (error_) return;
    if (pairs.size() % 2 != 0) return bad("a dict's keys and values are not pairs");
    const Value dict = builder_.container(Kind::dict);
    builder_.extend_dict(dict, pairs);
    drop_mark();
    push(dict);
  }
  void tuple(std::size_t count) {
    const std::span<const Value> items = top(count);
    if (error_) return;
    const Value list = builder_.container(Kind::list);
    builder_.extend_list(list, items);
    drop(count);
    push(list);
  }

  void put(std::size_t index) {
    // Picklers count up from 0 or 1; a larger index is there to make a small file need a large table.
    if (index > memo_.size() + 1) return bad("a memo index far beyond those before it");
    if (top(1).empty()) return;
    while (index >= memo_.size()) memo_.push_back(missing);
    memo_[index] = stack_.back().bits();
  }

  void get(std::size_t index) {
    if (index >= memo_.size() || memo_[index] == missing) return bad("a memo index that nothing was put under");
    push(Value::from_bits(memo_[index]));
  }

  /// A stack is a run of these; it is most of a snapshot.
  void gets() {
    const std::string_view bytes = input_.at_hand();
    std::size_t at = 0;
    while (at + 5 <= bytes.size()) {
      const bool is_short = static_cast<std::uint8_t>(bytes[at]) == op_binget;
      if (!is_short && static_cast<std::uint8_t>(bytes[at]) != op_long_binget) break;
      std::uint32_t index = static_cast<std::uint8_t>(bytes[at + 1]);
      if (!is_short) std::memcpy(&index, bytes.data() + at + 1, sizeof index);
      if (index >= memo_.size() || memo_[index] == missing) break;  // it is an error, told with its own place
      push(Value::from_bits(memo_[index]));
      at += is_short ? 2 : 5;
    }
    input_.skip(at);
  }

  void text(std::uint64_t size) {
    if (size > budget_.text) return fail("read/too-large", "a text of " + std::to_string(size) + " bytes");
    const std::string_view bytes = input_.take(size);
    push(builder_.text(bytes));
  }

  void long_integer(std::size_t size) {
    const std::string_view bytes = input_.take(size);
    std::uint64_t value = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = std::min<std::size_t>(bytes.size(), 8); i-- > 0;) {
      value = value << 8U | static_cast<unsigned char>(bytes[i]);
    }
    push(builder_.integer(static_cast<std::int64_t>(value)));
  }

  void real() {
    const std::uint64_t big = __builtin_bswap64(input_.number<std::uint64_t>());
    push(builder_.real(std::bit_cast<double>(big)));
  }

  void protocol(std::uint8_t version) {
    if (version < 2 || version > 5) bad("protocol " + std::to_string(version) + " is none of 2 to 5");
  }

  void pop() {
    if (!top(1).empty()) drop(1);
  }

  void step(std::uint8_t op);
  bool step_container(std::uint8_t op);
  bool step_data(std::uint8_t op);
  bool step_machine(std::uint8_t op);

  static constexpr std::uint32_t missing = 0xFFFFFFFFU;

  PickleInput input_;
  const std::string& name_;
  PickleBudget budget_;
  PickleBuilder builder_{};
  LongArray<Value> stack_{};
  std::vector<std::size_t> marks_{};
  LongArray<std::uint32_t> memo_{};
  std::uint64_t at_ = 0;
  std::uint64_t steps_ = 0;
  bool done_ = false;
  std::optional<Diagnostic> error_{};
};

// The order is that of how often a snapshot has them.
void Machine::step(std::uint8_t op) {
  if (op == op_long_binget || op == op_binget) {
    get(op == op_binget ? input_.number<std::uint8_t>() : input_.number<std::uint32_t>());
    return gets();
  }
  if (op == op_memoize) return put(memo_.size());
  if (step_container(op) || step_data(op) || step_machine(op)) return;
  fail("read/forbidden-opcode", "the pickle has " + why_forbidden(op) + "; nothing of it is read");
}

bool Machine::step_container(std::uint8_t op) {
  switch (op) {
    case op_empty_dict:
      return push(builder_.container(Kind::dict)), true;
    case op_empty_list:
    case op_empty_tuple:
      return push(builder_.container(Kind::list)), true;
    case op_setitems:
      return set_items(), true;
    case op_setitem:
      return set_item(), true;
    case op_appends:
      return appends(), true;
    case op_append:
      return append(), true;
    case op_tuple1:
    case op_tuple2:
    case op_tuple3:
      return tuple(op - op_tuple1 + 1U), true;
    case op_tuple:
    case op_list:
      return list_of_marked(), true;
    case op_dict:
      return dict_of_marked(), true;
    default:
      return false;
  }
}

bool Machine::step_data(std::uint8_t op) {
  switch (op) {
    case op_long1:
      return long_integer(input_.number<std::uint8_t>()), true;
    case op_binint:
      return push(builder_.integer(input_.number<std::int32_t>())), true;
    case op_binint1:
      return push(builder_.integer(input_.number<std::uint8_t>())), true;
    case op_binint2:
      return push(builder_.integer(input_.number<std::uint16_t>())), true;
    case op_newtrue:
      return push(builder_.integer(1)), true;
    case op_newfalse:
      return push(builder_.integer(0)), true;
    case op_none:
      return push({}), true;
    case op_binfloat:
      return real(), true;
    case op_short_binunicode:
    case op_short_binstring:
    case op_short_binbytes:
      return text(input_.number<std::uint8_t>()), true;
    case op_binunicode:
    case op_binstring:
    case op_binbytes:
      return text(input_.number<std::uint32_t>()), true;
    case op_binunicode8:
      return text(input_.number<std::uint64_t>()), true;
    default:
      return false;
  }
}

bool Machine::step_machine(std::uint8_t op) {
  switch (op) {
    case op_mark:
      return mark(), true;
    case op_binput:
      return put(input_.number<std::uint8_t>()), true;
    case op_long_binput:
      return put(input_.number<std::uint32_t>()), true;
    case op_frame:  // how much to read ahead, which is ours to decide
      return input_.number<std::uint64_t>(), true;
    case op_proto:
      return protocol(input_.number<std::uint8_t>()), true;
    case op_pop:
      return pop(), true;
    case op_pop_mark:
      above_mark();
      return drop_mark(), true;
    case op_stop:
      top(1);
      return done_ = true, true;
    default:
      return false;
  }
}

}  // namespace

bool is_pickle(std::string_view begun) {
  return begun.size() >= 2 && begun[0] == '\x80' && begun[1] >= 2 && begun[1] <= 5;
}

Result<PickleTree> read_pickle(ByteSource& bytes, const std::string& name, const PickleBudget& budget) {
  return Machine(bytes, name, budget).run();
}

}  // namespace oomplan::read
