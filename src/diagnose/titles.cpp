#include "titles.hpp"

#include "words.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t longest_title = 80;

}  // namespace

std::string explaining_title(const Wordings& wordings, std::string_view text) {
  if (text.empty() || text.size() > longest_title) return {};
  const auto is_sign = [](char c) { return !is_letter(c); };
  while (!text.empty() && is_sign(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_sign(text.back())) text.remove_suffix(1);
  if (text.empty() || (text.front() >= 'a' && text.front() <= 'z')) return {};
  return list_of(wordings, Wording::titles_that_explain).have(text) ? lowered(text) : std::string();
}

}  // namespace oomplan::diagnose
