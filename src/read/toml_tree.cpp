#include "toml_tree.hpp"

#include <utility>

namespace oomplan::read {
namespace {

Node::Kind kind_of(TomlTree::Form form) {
  using Form = TomlTree::Form;
  if (form == Form::scalar) return Node::Kind::null;
  return form == Form::array || form == Form::tables ? Node::Kind::sequence : Node::Kind::mapping;
}

}  // namespace

TomlTree::TomlTree(const Source& source, const ReadBudget& budget)
    : source_(source), budget_(budget), values_(1, Value{.form = Form::header}) {}

const TomlTree::Child* TomlTree::find(Index table, const std::string& name) const {
  const auto found = values_[table].names.find(name);
  return found == values_[table].names.end() ? nullptr : &values_[table].children[found->second];
}

TomlTree::Index TomlTree::create(Index parent, TomlKey key, Form form, std::size_t offset) {
  const bool container = form != Form::scalar;
  const int depth = values_[parent].depth + (container ? 1 : 0);
  nodes_ += kind_of(values_[parent].form) == Node::Kind::mapping ? 2 : 1;  // a key is one too
  if (depth > budget_.depth) refuse_depth(source_, offset, budget_.depth);
  if (nodes_ > budget_.nodes) refuse_nodes(source_, offset, budget_.nodes);
  const Index index = values_.size();
  values_[parent].children.push_back({std::move(key), index});
  values_.push_back({.form = form, .kind = kind_of(form), .offset = offset, .depth = depth});
  return index;
}

TomlTree::Index TomlTree::add(Index table, const TomlKey& key, Form form, std::size_t offset) {
  if (const Child* first = find(table, key.text)) refuse_twice(key, *first);
  values_[table].names.emplace(key.text, values_[table].children.size());
  return create(table, key, form, offset);
}

TomlTree::Index TomlTree::add_item(Index array, Form form, std::size_t offset) {
  return create(array, {}, form, offset);
}

void TomlTree::set(Index scalar, Node::Kind kind, std::string text) {
  values_[scalar].kind = kind;
  values_[scalar].text = std::move(text);
}

// One part of a header, not the last: into a table, or into the last table of [[key]].
TomlTree::Index TomlTree::step(Index table, const TomlKey& key, std::size_t offset) {
  const Child* child = find(table, key.text);
  if (child == nullptr) return add(table, key, Form::implicit, offset);
  const Form form = values_[child->value].form;
  if (form == Form::tables) return values_[child->value].children.back().value;
  const bool open = form == Form::implicit || form == Form::header || form == Form::dotted;
  if (!open) refuse_twice(key, *child);
  return child->value;
}

TomlTree::Index TomlTree::header(const std::vector<TomlKey>& keys, std::size_t offset, bool item) {
  Index table = root;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) table = step(table, keys[i], offset);
  const TomlKey& last = keys.back();
  const Child* child = find(table, last.text);
  if (item) {
    const Index array = child == nullptr ? add(table, last, Form::tables, offset) : child->value;
    if (values_[array].form != Form::tables) refuse_twice(last, *child);
    return add_item(array, Form::header, offset);
  }
  if (child == nullptr) return add(table, last, Form::header, offset);
  Value& value = values_[child->value];
  if (value.form != Form::implicit) refuse_twice(last, *child);
  value.form = Form::header;
  value.offset = offset;
  return child->value;
}

TomlTree::Index TomlTree::dotted(Index table, const std::vector<TomlKey>& keys) {
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    const Child* child = find(table, keys[i].text);
    if (child != nullptr && values_[child->value].form != Form::dotted) refuse_twice(keys[i], *child);
    table = child == nullptr ? add(table, keys[i], Form::dotted, keys[i].offset) : child->value;
  }
  return table;
}

void TomlTree::refuse_twice(const TomlKey& key, const Child& first) const {
  throw Refused{{duplicate_key(source_, key.text, key.offset, first.key.offset)}};
}

// As deep as the budget of depth allows, no deeper.
void TomlTree::write(Index index, Tape& tape) const {
  const Value& value = values_[index];
  if (value.form == Form::scalar) return tape.scalar(value.offset, value.kind, value.text);
  tape.open(value.offset, value.kind);
  for (const Child& child : value.children) {
    if (value.kind == Node::Kind::mapping) tape.scalar(child.key.offset, Node::Kind::string, child.key.text);
    write(child.value, tape);
  }
  tape.close();
}

}  // namespace oomplan::read
