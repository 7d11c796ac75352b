#include "event_line.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace oomplan::read {
namespace {

/// What stands after the letter.
struct Form {
  char letter = 0;
  Event::Kind kind = Event::Kind::mark;
  bool has_id = false;
  bool has_value = false;
  std::int64_t most = 0;
  std::string_view text{};
};

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr std::array<Form, 4> forms{{{'a', Event::Kind::allocate, true, true, largest_event, "a ID BYTES"},
                                     {'f', Event::Kind::free, true, false, 0, "f ID"},
                                     {'m', Event::Kind::mark, false, true, any, "m CODE"},
                                     {'e', Event::Kind::empty_cache, false, false, 0, "e"}}};

class Words {
 public:
  explicit Words(std::string_view line) : begin_(line.data()), at_(begin_ + 1), end_(begin_ + line.size()) {}

  bool number(std::int64_t& out, std::string_view name, std::int64_t least, std::int64_t most, BadEvent& bad) {
    while (at_ != end_ && *at_ == ' ') ++at_;
    const std::from_chars_result read = std::from_chars(at_, end_, out);
    const bool apart = at_ != begin_ + 1 && (read.ptr == end_ || *read.ptr == ' ');
    if (read.ec == std::errc::result_out_of_range) return refuse(bad, std::string(name) + " is out of range");
    if (read.ec != std::errc() || !apart) return refuse(bad, "expected a whole number: " + std::string(name));
    if (out < least) return refuse(bad, std::string(name) + " is below zero");
    if (out > most) return refuse(bad, std::string(name) + " is 1 EiB or more, which no card has");
    at_ = read.ptr;
    return true;
  }

  bool ended(BadEvent& bad) {
    while (at_ != end_ && *at_ == ' ') ++at_;
    return at_ == end_ || refuse(bad, "expected the end of the line");
  }

 private:
  bool refuse(BadEvent& bad, std::string message) const {
    bad = {static_cast<std::size_t>(at_ - begin_) + 1, std::move(message)};
    return false;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

const Form* form_of(char letter) {
  for (const Form& form : forms) {
    if (form.letter == letter) return &form;
  }
  return nullptr;
}

}  // namespace

bool parse_event(std::string_view line, EventLine& out, BadEvent& bad) {
  const Form* form = line.empty() ? nullptr : form_of(line.front());
  if (form == nullptr) {
    bad = {1, "expected an event: a ID BYTES, f ID, m CODE, or e"};
    return false;
  }
  out = {form->kind, 0, 0};
  Words words(line);
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const bool read = (!form->has_id || words.number(out.id, "the id", lowest, any, bad)) &&
                    (!form->has_value || words.number(out.value, form->has_id ? "the size" : "the code",
                                                      form->has_id ? 0 : lowest, form->most, bad)) &&
                    words.ended(bad);
  if (!read) bad.message += ", in '" + std::string(form->text) + "'";
  return read;
}

}  // namespace oomplan::read
