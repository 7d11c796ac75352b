#include "sharding_keys.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "zero.hpp"

namespace oomplan::ingestion {

void need_world(Draft& draft, const Document& document, std::string_view who) {
  const TrainingPlan& plan = draft.plan;
  if (plan.mesh.world_size.origin.is_said() || plan.loader.ranks.origin.is_said()) return;
  if (std::ranges::any_of(draft.missing, [](const Missing& m) { return m.field == "world_size"; })) return;
  miss(draft, document, "world_size", {}, std::string(who) + " shards over GPUs whose number nothing says",
       "add --gpu 8xh100 or --set plan.world_size=8");
}

namespace {

void put(const FactRow& fact, const TrainingPlan& said, const Document& config, Draft& draft) {
  const Origin& from = fact.origin(said);
  const Origin& there = fact.origin(draft.plan);
  if (from.kind != Origin::Kind::config || there.kind == Origin::Kind::command_line) return;
  if (!there.is_said()) {
    fact.set(fact.get(said), from, draft.plan);
  } else if (fact.write(said) != fact.write(draft.plan)) {
    conflict(draft, from, config,
             std::string(fact.name) + " is " + fact.write(said) + " here and " + fact.write(draft.plan) + " in " +
                 there.where.file);
  }
}

}  // namespace

void put_said(const TrainingPlan& said, const Document& config, Draft& draft) {
  for (const FactRow& fact : facts()) put(fact, said, config, draft);
}

namespace {

/// The folder that a file is in, ending in '/', without "." and what ".." takes back: "" is the working directory.
std::string folder_of(std::string_view file) {
  std::vector<std::string_view> names;
  const auto last = file.rfind('/');
  std::string_view rest = file.substr(0, last == file.npos ? 0 : last + 1);
  std::string out = rest.starts_with('/') ? "/" : "";
  for (; !rest.empty(); rest.remove_prefix(std::min(rest.find('/'), rest.size() - 1) + 1)) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (name.empty() || name == ".") continue;
    const bool back = name == ".." && !names.empty() && names.back() != "..";
    if (back) names.pop_back();
    if (!back) names.push_back(name);
  }
  for (const std::string_view name : names) (out += name) += '/';
  return out;
}

/// The folder that `folder` is in.
std::string parent_of(const std::string& folder) {
  return folder.empty() || folder == "../" || folder.ends_with("/../") ? folder + "../" : folder_of(folder + "..//");
}

bool is_missing(const Result<Document>& read) { return read.errors().front().code == "read/missing"; }

/// The file in one of the folders that the config lies in: people start a run from the root of a repository.
std::optional<Document> read_above(const Input& input, const std::string& path, const Loader& loader) {
  constexpr int most = 8;
  std::string folder = folder_of(input.document->file);
  for (int i = 0; i < most && folder != "/"; ++i) {
    folder = parent_of(folder);
    Result<Document> read = loader(folder + path);
    if (read && read->root.is_mapping()) return *std::move(read);
  }
  return std::nullopt;
}

}  // namespace

Named named_by(const Input& input, const Loader& loader, std::deque<Document>& documents, Search search) {
  if (input.value->is_mapping()) return {input.document, input.value};
  const auto path = read_text(*input.value);
  if (!path || !loader || !path->ends_with(".json")) return {};
  const std::string from_file = beside(input.document->file, *path);
  Result<Document> read = loader(*path);
  if (!read && is_missing(read) && from_file != *path) read = loader(from_file);
  const bool missing = !read && is_missing(read) && !path->starts_with('/');
  const bool absent = missing && search == Search::above;
  std::optional<Document> above = absent ? read_above(input, *path, loader) : std::nullopt;
  if (!above && (!read || !read->root.is_mapping())) return {};
  const Document& kept = documents.emplace_back(above ? *std::move(above) : *std::move(read));
  return {&kept, &kept.root, above.has_value()};
}

const Input* find_input(const Inputs& inputs, std::string_view key) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

Inputs fsdp_inputs(const Document& document, const Node& mapping) {
  constexpr std::string_view prefix = "fsdp_";
  Inputs out = inputs_of(document, mapping);
  for (Input& input : out) {
    if (input.key.starts_with(prefix)) input.key.erase(0, prefix.size());
  }
  return out;
}

Inputs fsdp_inputs_of(const Input& input, const Loader& loader, std::deque<Document>& documents) {
  const Named named = named_by(input, loader, documents);
  return named.mapping == nullptr ? Inputs() : fsdp_inputs(*named.document, *named.mapping);
}

Arguments read_within(std::string_view table, const Inputs& inputs, const std::string& within, Findings& findings) {
  Arguments out(arguments_of(table));
  read_rows({out.rows(), {}, &key_file(table)}, inputs, findings);
  for (Unmodelled& gap : findings.unmodelled) gap.key = within + gap.key;
  return out;
}

void plan_deepspeed(const Inputs& inputs, const Document& config, const Loader& loader, std::deque<Document>& documents,
                    Draft& draft) {
  const Input* asks = find_input(inputs, "deepspeed");
  if (asks == nullptr || !is_set(*asks->value)) return;
  const Named named = named_by(*asks, loader, documents, Search::above);
  if (named.mapping == nullptr) {
    draft.plan.unmodelled.push_back(
        {"DeepSpeed, whose file cannot be read from here,", "deepspeed", origin_of(*asks).where});
    return;
  }
  if (named.above) {
    draft.plan.warnings.push_back(at_value(*asks, "ingest/assumed-file", "deepspeed: read from " + named.document->file,
                                           "the path is relative to where the run is started"));
    draft.plan.warnings.back().severity = Severity::warning;
  }
  TrainingPlan said;
  plan_zero({draft, config, origin_of(*asks), said}, *named.document, *named.mapping);
  put_said(said, config, draft);
}

}  // namespace oomplan::ingestion
