// The keys of PYTORCH_ALLOC_CONF, and what torch 2.11 takes as their values.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "conf_tokens.hpp"
#include "oomplan/core/text.hpp"
#include "sizes.hpp"

namespace oomplan {
namespace {

using allocator::ConfPair;
using allocator::ConfSetting;
using allocator::ConfWord;

/// A setting's value refused.
struct Refusal {
  ConfWord at{};
  std::string message{};
};

using Apply = void (*)(const ConfSetting&, AllocatorSettings&);

struct Key {
  std::string_view name{};
  Apply apply = nullptr;  ///< Null where it does not touch the card's memory.
};

[[noreturn]] void refuse(const ConfSetting& setting, const ConfWord& at, const std::string& expected) {
  throw Refusal{at, setting.key.text + ": expected " + expected + ", found '" + at.text + "'"};
}

std::int64_t whole(const ConfSetting& setting, const ConfWord& word) {
  const auto value = parse_integer(word.text);
  if (!value || *value < 0) refuse(setting, word, "a whole number");
  return *value;
}

double number(const ConfSetting& setting) {
  const auto value = parse_number(setting.value.text);
  if (!value) refuse(setting, setting.value, "a number");
  return *value;
}

Bytes megabytes(const ConfSetting& setting) { return Bytes::mib(whole(setting, setting.value)); }

bool boolean(const ConfSetting& setting) {
  const std::string& text = setting.value.text;
  if (text != "True" && text != "False") refuse(setting, setting.value, "True or False");
  return text == "True";
}

bool power_of_two(std::int64_t value) { return std::has_single_bit(static_cast<std::uint64_t>(value)); }

std::int64_t divisions(const ConfSetting& setting, const ConfWord& word) {
  const std::int64_t value = whole(setting, word);
  if (value != 0 && !power_of_two(value)) refuse(setting, word, "a power of two, or 0");
  return value;
}

/// Each entry sets the interval that begins at its size; the first one all below it too, and '>' all above the last.
void roundup_list(const ConfSetting& setting, AllocatorSettings& out) {
  auto& all = out.roundup_divisions;
  std::size_t last = 0;
  bool first = true;
  for (const ConfPair& pair : setting.list) {
    const std::int64_t value = divisions(setting, pair.value);
    if (pair.from.text == ">") {
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(last) + 1, all.end(), value);
      continue;
    }
    const std::int64_t from = whole(setting, pair.from);
    if (!power_of_two(from)) refuse(setting, pair.from, "a power of two");
    last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(from))), 15);
    if (std::exchange(first, false)) std::fill_n(all.begin(), last, value);
    all[last] = value;
    last = std::min(last, all.size() - 2);  // '>' after the last interval has nothing to set
  }
}

void roundup(const ConfSetting& setting, AllocatorSettings& out) {
  if (setting.is_list) return roundup_list(setting, out);
  const std::int64_t value = divisions(setting, setting.value);
  if (value == 0) refuse(setting, setting.value, "a power of two");
  out.roundup_divisions.fill(value);
}

void threshold(const ConfSetting& setting, AllocatorSettings& out) {
  out.garbage_collection_threshold = number(setting);
  const double value = out.garbage_collection_threshold;
  if (value <= 0 || value >= 1) refuse(setting, setting.value, "a number above 0 and below 1");
}

void fraction(const ConfSetting& setting, AllocatorSettings& out) {
  out.memory_fraction = number(setting);
  if (out.memory_fraction < 0 || out.memory_fraction > 1) refuse(setting, setting.value, "a number from 0 to 1");
}

void large_segment(const ConfSetting& setting, AllocatorSettings& out) {
  out.large_segment = megabytes(setting);
  if (out.large_segment <= Bytes(allocator::own_segment_from)) refuse(setting, setting.value, "more than 10");
  // No card is larger, and what comes of the size stays in range.
  out.large_segment = std::min(out.large_segment, Bytes(allocator::largest_total));
}

void backend(const ConfSetting& setting, AllocatorSettings&) {
  if (setting.value.text != "native") refuse(setting, setting.value, "native or cudaMallocAsync");
}

constexpr auto keys = std::to_array<Key>({
    {"backend", backend},
    {"expandable_segments", [](const auto& s, auto& out) { out.expandable_segments = boolean(s); }},
    {"garbage_collection_threshold", threshold},
    {"large_segment_size_mb", large_segment},
    {"max_non_split_rounding_mb", [](const auto& s, auto& out) { out.max_non_split_rounding = megabytes(s); }},
    {"max_split_size_mb", [](const auto& s, auto& out) { out.max_split = megabytes(s); }},
    {"per_process_memory_fraction", fraction},
    {"roundup_power2_divisions", roundup},
    {"graph_capture_record_stream_reuse", nullptr},
    {"pinned_num_register_threads", nullptr},
    {"pinned_reserve_segment_size_mb", nullptr},
    {"pinned_use_background_threads", nullptr},
    {"pinned_use_cuda_host_register", nullptr},
    {"release_lock_on_cudamalloc", nullptr},
});

class Reading {
 public:
  Reading(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<AllocatorSettings> run() {
    const std::vector<ConfSetting> all = allocator::conf_settings(text_, name_, errors_);
    for (const ConfSetting& setting : all) take(setting);
    settle(all);
    return errors_.empty() ? Result<AllocatorSettings>(settings_) : Result<AllocatorSettings>(errors_);
  }

 private:
  void error(const ConfWord& at, std::string code, std::string message, std::string hint = {}) {
    errors_.push_back(allocator::conf_error(text_, name_, at, std::move(code), std::move(message), std::move(hint)));
  }

  void unknown(const ConfWord& key) {
    std::array<std::string_view, keys.size()> names{};
    std::transform(keys.begin(), keys.end(), names.begin(), [](const Key& k) { return k.name; });
    const auto near = nearest(key.text, names);
    error(key, "estimate/unknown-alloc-key", "torch knows no allocator setting '" + key.text + "'",
          near ? "did you mean '" + *near + "'?" : "");
  }

  void take(const ConfSetting& setting) {
    const auto* key = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == setting.key.text; });
    if (key == keys.end()) return unknown(setting.key);
    if (key->name == "backend" && setting.value.text == "cudaMallocAsync") {
      return error(setting.value, "estimate/unmodelled", "backend:cudaMallocAsync is not modelled",
                   "the driver's own pool decides then; oomplan plays the native backend only");
    }
    if (key->apply == nullptr) return;
    try {
      key->apply(setting, settings_);
    } catch (const Refusal& refusal) {
      error(refusal.at, "estimate/bad-alloc-conf", refusal.message);
    }
  }

  /// What depends on other keys. torch reads the text twice, so that their order does not matter.
  void settle(const std::vector<ConfSetting>& all) {
    bool given = false;
    for (const ConfSetting& setting : all) {
      if (setting.key.text == "max_split_size_mb") check_limit(setting);
      if (setting.key.text != "max_non_split_rounding_mb") continue;
      check_limit(setting);
      given = true;
    }
    if (!given) settings_.max_non_split_rounding = settings_.large_segment;
  }

  void check_limit(const ConfSetting& setting) {
    const Bytes least = settings_.large_segment;
    const auto given = parse_integer(setting.value.text);
    if (!given || Bytes::mib(*given) >= least) return;
    error(setting.value, "estimate/bad-alloc-conf",
          setting.key.text + ": expected at least " + std::to_string(least.count() >> 20) + ", found '" +
              setting.value.text + "'",
          "no limit may be below large_segment_size_mb");
  }

  std::string_view text_;
  const std::string& name_;
  AllocatorSettings settings_{};
  Diagnostics errors_{};
};

}  // namespace

Result<AllocatorSettings> parse_alloc_conf(std::string_view text, const std::string& name) {
  return Reading(text, name).run();
}

}  // namespace oomplan
