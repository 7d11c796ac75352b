#include "tensorboard_log.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "crc32c.hpp"
#include "oomplan/core/text.hpp"
#include "protobuf.hpp"

namespace oomplan::read {
namespace {

constexpr std::size_t frame_size = tensorboard_mark_length;
constexpr std::size_t footer_size = 4;
constexpr std::size_t longest_record = std::size_t{64} << 10;

// As TFRecord masks it, so that the checksum of a record with one in it is none of a kind.
std::uint32_t masked(std::uint32_t sum) { return (sum >> 15U | sum << 17U) + 0xA282EAD8U; }

bool has_sum(std::string_view bytes, std::string_view sum) { return masked(crc32c(bytes)) == little_endian(sum); }

// Bytes in one of the tag's unit.
std::optional<double> unit_of(std::string_view tag) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr double kib = 1024;
  // The longer before what is in them.
  constexpr auto units = std::to_array<Unit>({{"gigabytes", kib * kib * kib},
                                              {"megabytes", kib * kib},
                                              {"kilobytes", kib},
                                              {"gib", kib * kib * kib},
                                              {"gb", kib * kib * kib},
                                              {"mib", kib * kib},
                                              {"mb", kib * kib},
                                              {"kib", kib},
                                              {"kb", kib},
                                              {"bytes", 1}});
  for (const Unit& unit : units)
    if (tag.find(unit.name) != std::string_view::npos) return unit.bytes;
  return std::nullopt;
}

// Of a scalar's tag that speaks of memory which tensors hold; what the allocator keeps beside is no sign of a leak.
std::optional<std::int64_t> memory_of(std::string_view tag, double value) {
  const std::string words = lowered(tag);
  const bool held = words.find("alloc") != std::string::npos || words.find("active") != std::string::npos;
  const std::optional<double> unit = unit_of(words);
  if (!held || !unit || !std::isfinite(value) || value < 0) return std::nullopt;
  constexpr double most = 1e15;
  return static_cast<std::int64_t>(std::min(value * *unit, most));
}

std::optional<double> first_number(std::string_view tensor) {
  constexpr std::uint64_t of_float = 1;
  constexpr std::uint64_t of_double = 2;
  std::uint64_t type = 0;
  ProtobufFields fields(tensor);
  while (const auto field = fields.next()) {
    if (field->number == 1) type = field->value;
    const bool holds = field->number == 4 || field->number == 5 || field->number == 6;
    if (!holds) continue;
    if (type == of_float && field->bytes.size() >= 4)
      return std::bit_cast<float>(static_cast<std::uint32_t>(little_endian(field->bytes.substr(0, 4))));
    if (type == of_double && field->bytes.size() >= 8)
      return std::bit_cast<double>(little_endian(field->bytes.substr(0, 8)));
    if (type == of_float && field->bytes.empty()) return std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
  }
  return std::nullopt;
}

struct Scalar {
  std::string_view tag{};
  std::optional<double> value{};
};

Scalar scalar_of(std::string_view message) {
  Scalar out;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) out.tag = field->bytes;
    if (field->number == 2) out.value = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->number == 8 && !out.value) out.value = first_number(field->bytes);
  }
  return out;
}

struct Event {
  double time = 0;
  std::optional<std::int64_t> step{};
  std::string_view summary{};
};

Event event_of(std::string_view record) {
  Event out;
  ProtobufFields fields(record);
  while (const auto field = fields.next()) {
    if (field->number == 1) out.time = std::bit_cast<double>(field->value);
    if (field->number == 2) out.step = static_cast<std::int64_t>(field->value);
    if (field->number == 5) out.summary = field->bytes;
  }
  return out;
}

std::string two(std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

// "2024-05-01T10:00:00.123Z "; nothing for what is no time of a run.
std::string shown_time(double seconds) {
  constexpr double latest = 4102444800.0;  // 2100
  if (!(seconds > 0) || seconds > latest) return {};
  const auto whole = static_cast<std::int64_t>(seconds);
  const std::int64_t millis = static_cast<std::int64_t>((seconds - static_cast<double>(whole)) * 1000);
  // Howard Hinnant's days_from_civil, turned round: years begin in March.
  const std::int64_t days = whole / 86400 + 719468;
  const std::int64_t era = days / 146097;
  const std::int64_t day_of_era = days % 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march = (5 * day_of_year + 2) / 153;
  const std::int64_t month = march < 10 ? march + 3 : march - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const std::string fraction = std::to_string(1000 + millis).substr(1);
  return std::to_string(year) + '-' + two(month) + '-' + two(day_of_year - (153 * march + 2) / 5 + 1) + 'T' +
         two(whole % 86400 / 3600) + ':' + two(whole % 3600 / 60) + ':' + two(whole % 60) + '.' + fraction + "Z ";
}

class Steps final : public ByteSource {
 public:
  Steps(std::unique_ptr<ByteSource> file, std::string begun) : file_(put_back(std::move(file), std::move(begun))) {}

  Result<std::size_t> read(char* out, std::size_t most) override {
    while (used_ == text_.size() && !ended_) {
      text_.clear();
      used_ = 0;
      Result<bool> more = read_record();
      if (!more) return more.errors();
      ended_ = !*more;
      if (ended_) end_step();
    }
    const std::size_t got = text_.copy(out, most, used_);
    used_ += got;
    return got;
  }

 private:
  Result<bool> read_record() {
    Result<std::string> header = first_bytes(*file_, frame_size);
    if (!header) return header.errors();
    if (!is_tensorboard_log(*header)) return false;
    const std::uint64_t length = little_endian(std::string_view(*header).substr(0, 8));
    if (length > longest_record) return skip(length);
    Result<std::string> record = first_bytes(*file_, static_cast<std::size_t>(length) + footer_size);
    if (!record) return record.errors();
    if (record->size() < length + footer_size) return false;
    const std::string_view data = std::string_view(*record).substr(0, static_cast<std::size_t>(length));
    if (has_sum(data, std::string_view(*record).substr(data.size()))) add(event_of(data));
    return true;
  }

  Result<bool> skip(std::uint64_t length) {
    if (length > std::numeric_limits<std::uint64_t>::max() - footer_size) return false;
    for (std::uint64_t left = length + footer_size; left > 0;) {
      const Result<std::string> piece =
          first_bytes(*file_, static_cast<std::size_t>(std::min(left, std::uint64_t{longest_record})));
      if (!piece) return piece.errors();
      if (piece->empty()) return false;
      left -= piece->size();
    }
    return true;
  }

  void add(const Event& event) {
    if (event.summary.empty()) return;
    const std::int64_t step = event.step.value_or(0);  // as a message has it that says none
    if (step_ != step) end_step();
    step_ = step;
    time_ = event.time;
    if (memory_) return;
    ProtobufFields values(event.summary);
    while (const auto value = values.next()) {
      if (value->number != 1) continue;
      const Scalar scalar = scalar_of(value->bytes);
      if (scalar.value && !memory_) memory_ = memory_of(scalar.tag, *scalar.value);
    }
  }

  void end_step() {
    if (!step_) return;
    text_ += shown_time(time_) + "tensorboard: step " + std::to_string(*step_);
    if (memory_) text_ += ", memory " + std::to_string(*memory_) + " bytes";
    text_ += '\n';
    step_.reset();
    memory_.reset();
  }

  std::unique_ptr<ByteSource> file_;
  bool ended_ = false;
  std::optional<std::int64_t> step_{};  // the one that is being read
  double time_ = 0;
  std::optional<std::int64_t> memory_{};
  std::string text_{};
  std::size_t used_ = 0;
};

}  // namespace

bool is_tensorboard_log(std::string_view begun) {
  return begun.size() >= frame_size && has_sum(begun.substr(0, 8), begun.substr(8, 4));
}

std::unique_ptr<ByteSource> lines_of_tensorboard(std::unique_ptr<ByteSource> file, std::string begun) {
  return std::make_unique<Steps>(std::move(file), std::move(begun));
}

}  // namespace oomplan::read
