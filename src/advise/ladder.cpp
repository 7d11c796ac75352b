#include <algorithm>
#include <memory>
#include <utility>

#include "change.hpp"
#include "facts.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/core/embedded.hpp"
#include "oomplan/read/packed.hpp"
#include "rung.hpp"

namespace oomplan {

namespace advise {
std::span<const EmbeddedFile> embedded_files();  // of rules/ladder/
}

namespace {

using advise::Rung;

constexpr std::string_view extension = ".yaml";

Result<Rung> parsed(const std::string& id, std::string_view text, std::string_view packed = {}) {
  const Result<Document> document = data_document(text, packed, "rules/ladder/" + id + ".yaml");
  return document ? advise::rung_of(id, *document) : Result<Rung>(document.errors());
}

}  // namespace

Result<Ladder> Ladder::load() {
  auto rungs = std::make_shared<std::vector<Rung>>();
  Diagnostics errors;
  for (const EmbeddedFile& file : advise::embedded_files()) {
    const std::string id(file.path.substr(0, file.path.size() - extension.size()));
    Result<Rung> rung = parsed(id, file.text, file.packed);
    if (rung) {
      rungs->push_back(std::move(*rung));
    } else {
      errors.insert(errors.end(), rung.errors().begin(), rung.errors().end());
    }
  }
  if (!errors.empty()) return errors;
  std::ranges::stable_sort(*rungs, {}, &Rung::order);
  return Ladder(std::move(rungs));
}

Result<Ladder> Ladder::of(const std::string& id, const std::string& text) {
  Result<Rung> rung = parsed(id, text);
  if (!rung) return rung.errors();
  return Ladder(std::make_shared<std::vector<Rung>>(std::vector{std::move(*rung)}));
}

std::vector<std::string> Ladder::ids() const {
  std::vector<std::string> out;
  for (const Rung& rung : *rungs_) out.push_back(rung.fix.id);
  return out;
}

std::string nothing_to_change(const Ladder& ladder, std::string_view id, const AdviceQuestion& question) {
  const auto rung = std::ranges::find(ladder.rungs(), id, [](const Rung& r) -> const std::string& { return r.fix.id; });
  return rung == ladder.rungs().end() ? std::string() : advise::refusing_fact(advise::as_said(question), *rung);
}

}  // namespace oomplan
