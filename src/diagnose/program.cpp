#include "program.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace oomplan::diagnose {
namespace {

constexpr std::array<std::pair<std::string_view, HoleType>, 12> type_names{{{"size", HoleType::size},
                                                                            {"gibibytes", HoleType::gibibytes},
                                                                            {"mebibytes", HoleType::mebibytes},
                                                                            {"kibibytes", HoleType::kibibytes},
                                                                            {"bytes", HoleType::bytes},
                                                                            {"integer", HoleType::integer},
                                                                            {"real", HoleType::real},
                                                                            {"device", HoleType::device},
                                                                            {"signal", HoleType::signal},
                                                                            {"status", HoleType::status},
                                                                            {"word", HoleType::word},
                                                                            {"text", HoleType::text}}};

void append(Program& to, Program from) {
  for (Instruction& instruction : from) to.push_back(std::move(instruction));
}

std::ptrdiff_t length(const Program& program) { return static_cast<std::ptrdiff_t>(program.size()); }

Instruction split(std::ptrdiff_t other) { return {.kind = Instruction::Kind::split, .other = other}; }
Instruction jump(std::ptrdiff_t next) { return {.kind = Instruction::Kind::jump, .next = next}; }

Program either(Program first, Program second) {
  Program out{split(length(first) + 2)};
  append(out, std::move(first));
  out.push_back(jump(length(second) + 1));
  append(out, std::move(second));
  return out;
}

Program optional(Program part, bool repeated) {
  Program out{split(length(part) + (repeated ? 2 : 1))};
  append(out, std::move(part));
  if (repeated) out.push_back(jump(-length(out)));
  return out;
}

class Compiler {
 public:
  explicit Compiler(std::string_view text) : text_(text) {}

  Compiled run() {
    Program out = sequence(0);
    out.push_back({});
    return {std::move(out), std::move(error_)};
  }

 private:
  bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  Program sequence(int depth) {
    Program out;
    while (at_ < text_.size() && error_.empty()) {
      if (depth > 0 && (at(">>") || at("|"))) break;
      if (at("<<")) {
        append(out, group(depth));
      } else if (at("{")) {
        out.push_back(hole());
      } else {
        out.push_back({.kind = Instruction::Kind::literal, .literal = literal(depth)});
      }
    }
    return out;
  }

  std::string literal(int depth) {
    std::string out;
    while (at_ < text_.size() && !at("<<") && !at("{")) {
      if (depth > 0 && (at(">>") || at("|"))) break;
      const char c = text_[at_++];
      const bool space = c == ' ' || c == '\n' || c == '\t';
      if (!space) out += c;
      if (space && (out.empty() || out.back() != ' ')) out += ' ';
    }
    return out;
  }

  Program group(int depth) {
    if (depth > 8) error_ = "is nested too deeply";
    at_ += 2;
    std::vector<Program> branches{sequence(depth + 1)};
    while (error_.empty() && at("|")) {
      ++at_;
      branches.push_back(sequence(depth + 1));
    }
    if (error_.empty() && !at(">>")) error_ = "has a << that is not closed";
    at_ = std::min(at_ + 2, text_.size());
    Program out = std::move(branches.back());
    for (std::size_t i = branches.size() - 1; i-- > 0;) out = either(std::move(branches[i]), std::move(out));
    if (at("?") || at("*")) out = optional(std::move(out), text_[at_++] == '*');
    return out;
  }

  Instruction hole() {
    const std::size_t close = text_.find('}', at_);
    const std::string_view inside = text_.substr(at_ + 1, close == std::string_view::npos ? close : close - at_ - 1);
    at_ = close == std::string_view::npos ? text_.size() : close + 1;
    const std::size_t colon = inside.find(':');
    const auto type = colon == std::string_view::npos ? std::nullopt : hole_type_named(inside.substr(colon + 1));
    if (!type) error_ = "has a hole that is not {name:type}: {" + std::string(inside) + "}";
    return {.kind = Instruction::Kind::hole,
            .hole = {std::string(inside.substr(0, colon)), type.value_or(HoleType::word)}};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_{};
};

}  // namespace

std::optional<HoleType> hole_type_named(std::string_view name) {
  for (const auto& [known, type] : type_names)
    if (known == name) return type;
  return std::nullopt;
}

Compiled compile(std::string_view pattern) { return Compiler(pattern).run(); }

// Whatever stands between a split and where its branches meet again is not on every path.
std::vector<std::string> required_literals(const Program& program) {
  std::vector<std::string> out;
  std::ptrdiff_t optional_until = 0;
  for (std::ptrdiff_t i = 0; i < length(program); ++i) {
    const Instruction& instruction = program[static_cast<std::size_t>(i)];
    using Kind = Instruction::Kind;
    if (instruction.kind == Kind::split) optional_until = std::max(optional_until, i + instruction.other);
    if (instruction.kind == Kind::jump) optional_until = std::max(optional_until, i + instruction.next);
    if (instruction.kind == Kind::literal && i >= optional_until) out.push_back(instruction.literal);
  }
  return out;
}

}  // namespace oomplan::diagnose
