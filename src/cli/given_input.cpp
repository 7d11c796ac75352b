#include "given_input.hpp"

#include <utility>

namespace oomplan::cli {
namespace {

thread_local std::optional<std::string_view> given;

}  // namespace

GivenInput::GivenInput(std::string_view text) : before_(std::exchange(given, text)) {}
GivenInput::~GivenInput() { given = before_; }

std::optional<std::string_view> given_input() { return given; }

}  // namespace oomplan::cli
