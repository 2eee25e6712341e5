// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/predicate.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr int kMaximumDepth = 32;

}  // namespace

struct Predicate::Node {
  enum class Kind {
    kEquals,
    kNotEquals,
    kPrefix,
    kIn,
    kContains,
    kExists,
    kEvery,
    kSome,
    kExactly,
    kHasPassword,
    kHappened,
    kAll,
    kAny,
    kNot
  };

  Kind kind = Kind::kAll;
  // The resource; empty inside a quantifier, which supplies it.
  std::string uri;
  std::string pointer;
  Json value;
  // For kEquals: the members that do not count.
  std::set<std::string> except;
  // For quantifiers: the collection whose members count, or the resources themselves.
  std::string members;
  std::vector<std::string> uris;
  // For kHasPassword: the name of the BIOS password. For kHappened: the kind of the records.
  std::string record_kind;
  // For kHappened. kExactly keeps its count in at_least.
  std::int64_t at_least = 1;
  std::optional<std::int64_t> at_most;
  std::vector<Node> children;

  bool Holds(const StateView& state, const std::string& here) const;

 private:
  bool Compares(const StateView& state, const std::string& here) const;
  bool Quantifies(const StateView& state) const;
  bool Happened(const StateView& state) const;
};

namespace {

using Node = Predicate::Node;

bool HasDetail(const Json& detail, const Json& wanted) {
  return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
    const auto found = detail.find(item.key());
    return found != detail.end() && *found == item.value();
  });
}

bool Contains(const Json& array, const Json& value) {
  return array.is_array() && std::find(array.begin(), array.end(), value) != array.end();
}

// Returns whether `b` has every member of `a`, except those in `except`, with an equal value.
bool HasMembersOf(const Json& a, const Json& b, const std::set<std::string>& except) {
  return std::all_of(a.items().begin(), a.items().end(), [&](const auto& item) {
    const auto found = b.find(item.key());
    return except.contains(item.key()) || (found != b.end() && *found == item.value());
  });
}

bool EqualsBut(const Json& a, const Json& b, const std::set<std::string>& except) {
  if (except.empty() || !a.is_object() || !b.is_object()) return a == b;
  return HasMembersOf(a, b, except) && HasMembersOf(b, a, except);
}

bool StartsWith(const Json& text, const Json& prefix) {
  return text.is_string() &&
         text.get_ref<const std::string&>().starts_with(prefix.get_ref<const std::string&>());
}

}  // namespace

bool Node::Compares(const StateView& state, const std::string& here) const {
  const Json* resource = state.Find(uri.empty() ? here : uri);
  const Json* found = resource == nullptr ? nullptr : Resolve(*resource, pointer);
  if (found == nullptr) return false;
  switch (kind) {
    case Kind::kEquals:
      return EqualsBut(*found, value, except);
    case Kind::kNotEquals:
      return *found != value;
    case Kind::kPrefix:
      return StartsWith(*found, value);
    case Kind::kIn:
      return Contains(value, *found);
    case Kind::kContains:
      return Contains(*found, value);
    default:
      return true;
  }
}

bool Node::Quantifies(const StateView& state) const {
  std::vector<std::string> targets = uris;
  if (!members.empty()) {
    const Json* collection = state.Find(members);
    const Json* list = collection == nullptr ? nullptr : Resolve(*collection, "/Members");
    if (list == nullptr || !list->is_array()) return false;
    for (const Json& member : *list) targets.push_back(LinkTarget(member));
  }
  const auto holds = [&](const std::string& target) {
    return children.front().Holds(state, target);
  };
  if (kind == Kind::kExactly) {
    return std::count_if(targets.begin(), targets.end(), holds) == at_least;
  }
  return kind == Kind::kEvery ? std::all_of(targets.begin(), targets.end(), holds)
                              : std::any_of(targets.begin(), targets.end(), holds);
}

bool Node::Happened(const StateView& state) const {
  const auto& history = state.history();
  const auto count =
      std::count_if(history.begin(), history.end(), [&](const HistoryRecord& record) {
        return record.kind == record_kind && (uri.empty() || record.uri == uri) &&
               HasDetail(record.detail, value);
      });
  return count >= at_least && (!at_most || count <= *at_most);
}

bool Node::Holds(const StateView& state, const std::string& here) const {
  const auto holds = [&](const Node& child) { return child.Holds(state, here); };
  switch (kind) {
    case Kind::kAll:
      return std::all_of(children.begin(), children.end(), holds);
    case Kind::kAny:
      return std::any_of(children.begin(), children.end(), holds);
    case Kind::kNot:
      return !holds(children.front());
    case Kind::kEvery:
    case Kind::kSome:
    case Kind::kExactly:
      return Quantifies(state);
    case Kind::kHasPassword:
      return state.HasPassword(uri.empty() ? here : uri, record_kind,
                               value.get_ref<const std::string&>());
    case Kind::kHappened:
      return Happened(state);
    default:
      return Compares(state, here);
  }
}

namespace {

absl::Status Wrong(const std::string& what) {
  return runtime::InvalidArgument("predicate: " + what);
}

const std::map<std::string_view, Node::Kind>& Kinds() {
  static const std::map<std::string_view, Node::Kind> kinds = {
      {"equals", Node::Kind::kEquals},     {"not_equals", Node::Kind::kNotEquals},
      {"prefix", Node::Kind::kPrefix},     {"in", Node::Kind::kIn},
      {"contains", Node::Kind::kContains}, {"exists", Node::Kind::kExists},
      {"every", Node::Kind::kEvery},       {"some", Node::Kind::kSome},
      {"exactly", Node::Kind::kExactly},   {"has_password", Node::Kind::kHasPassword},
      {"happened", Node::Kind::kHappened}, {"all", Node::Kind::kAll},
      {"any", Node::Kind::kAny},           {"not", Node::Kind::kNot}};
  return kinds;
}

// Parses one predicate. It knows its depth and whether a quantifier supplies the resource.
class Parser {
 public:
  absl::StatusOr<Node> Parse(const Json& json, int depth, bool in_quantifier) const {
    if (depth > kMaximumDepth) return Wrong("nested more than 32 deep");
    if (!json.is_object() || json.size() != 1) {
      return Wrong("an object with exactly one member expected");
    }
    const std::string name = json.begin().key();
    const Json& body = json.begin().value();
    const auto kind = Kinds().find(name);
    if (kind == Kinds().end()) return Wrong("unknown condition \"" + name + "\"");
    Node node;
    node.kind = kind->second;
    switch (node.kind) {
      case Node::Kind::kAll:
      case Node::Kind::kAny:
        return ParseList(name, body, std::move(node), depth, in_quantifier);
      case Node::Kind::kNot: {
        SHOAL_ASSIGN_OR_RETURN(Node child, Parse(body, depth + 1, in_quantifier));
        node.children.push_back(std::move(child));
        return node;
      }
      case Node::Kind::kEvery:
      case Node::Kind::kSome:
      case Node::Kind::kExactly:
        return ParseQuantifier(name, body, std::move(node), depth);
      case Node::Kind::kHasPassword:
        return ParsePassword(body, std::move(node), in_quantifier);
      case Node::Kind::kHappened:
        return ParseHappened(body, std::move(node));
      default:
        return ParseComparison(name, body, std::move(node), in_quantifier);
    }
  }

 private:
  absl::StatusOr<Node> ParseList(const std::string& name, const Json& body, Node node, int depth,
                                 bool in_quantifier) const {
    if (!body.is_array()) return Wrong("\"" + name + "\" needs an array");
    for (const Json& item : body) {
      SHOAL_ASSIGN_OR_RETURN(Node child, Parse(item, depth + 1, in_quantifier));
      node.children.push_back(std::move(child));
    }
    return node;
  }

  absl::StatusOr<Node> ParseQuantifier(const std::string& name, const Json& body, Node node,
                                       int depth) const {
    const bool counts = node.kind == Node::Kind::kExactly;
    SHOAL_RETURN_IF_ERROR(
        CheckMembers(name, body, {"members", "uris", "holds", counts ? "count" : ""}));
    if (counts) {
      const auto count = body.find("count");
      if (count == body.end() || !count->is_number_integer()) {
        return Wrong("\"exactly\" needs a \"count\"");
      }
      node.at_least = count->get<std::int64_t>();
    }
    if (!body.contains("holds")) return Wrong("\"" + name + "\" needs \"holds\"");
    if (body.contains("members") == body.contains("uris")) {
      return Wrong("\"" + name + "\" needs one of \"members\" and \"uris\"");
    }
    if (const auto members = body.find("members"); members != body.end()) {
      if (!members->is_string()) return Wrong("\"members\" needs a URI");
      node.members = CanonicalUri(members->get_ref<const std::string&>());
    } else {
      const Json& uris = body.at("uris");
      if (!uris.is_array()) return Wrong("\"uris\" needs an array");
      for (const Json& uri : uris) {
        if (!uri.is_string()) return Wrong("\"uris\" needs URIs");
        node.uris.push_back(CanonicalUri(uri.get_ref<const std::string&>()));
      }
    }
    SHOAL_ASSIGN_OR_RETURN(Node child, Parse(body.at("holds"), depth + 1, true));
    node.children.push_back(std::move(child));
    return node;
  }

  absl::StatusOr<Node> ParsePassword(const Json& body, Node node, bool in_quantifier) const {
    SHOAL_RETURN_IF_ERROR(CheckMembers("has_password", body, {"uri", "name", "value"}));
    for (const char* member : {"uri", "name", "value"}) {
      const auto found = body.find(member);
      if (found != body.end() && !found->is_string()) {
        return Wrong(std::string("\"") + member + "\" needs a text");
      }
    }
    if (!body.contains("value")) return Wrong("\"has_password\" needs a \"value\"");
    if (!body.contains("uri") && !in_quantifier) {
      return Wrong("\"has_password\" needs a \"uri\"");
    }
    if (body.contains("uri")) node.uri = CanonicalUri(TextAt(body, "uri"));
    node.record_kind = TextAt(body, "name");
    node.value = body.at("value");
    return node;
  }

  absl::StatusOr<Node> ParseHappened(const Json& body, Node node) const {
    SHOAL_RETURN_IF_ERROR(
        CheckMembers("happened", body, {"kind", "uri", "detail", "at_least", "at_most"}));
    const auto kind = body.find("kind");
    if (kind == body.end() || !kind->is_string()) return Wrong("\"happened\" needs a \"kind\"");
    node.record_kind = *kind;
    if (const auto uri = body.find("uri"); uri != body.end()) {
      if (!uri->is_string()) return Wrong("\"uri\" needs a text");
      node.uri = CanonicalUri(uri->get_ref<const std::string&>());
    }
    node.value = Json::object();
    if (const auto detail = body.find("detail"); detail != body.end()) {
      if (!detail->is_object()) return Wrong("\"detail\" needs an object");
      node.value = *detail;
    }
    for (const char* bound : {"at_least", "at_most"}) {
      const auto found = body.find(bound);
      if (found == body.end()) continue;
      if (!found->is_number_integer()) return Wrong(std::string(bound) + " needs an integer");
      if (std::string_view(bound) == "at_least") {
        node.at_least = found->get<std::int64_t>();
      } else {
        node.at_most = found->get<std::int64_t>();
      }
    }
    return node;
  }

  absl::StatusOr<Node> ParseComparison(const std::string& name, const Json& body, Node node,
                                       bool in_quantifier) const {
    const bool several = node.kind == Node::Kind::kIn;
    const bool none = node.kind == Node::Kind::kExists;
    const std::string_view operand = several ? "values" : "value";
    const bool excepts = node.kind == Node::Kind::kEquals;
    SHOAL_RETURN_IF_ERROR(CheckMembers(
        name, body,
        {"uri", "pointer", none ? std::string_view() : operand, excepts ? "except" : ""}));
    const auto uri = body.find("uri");
    if (uri == body.end() ? !in_quantifier : !uri->is_string()) {
      return Wrong("\"" + name + "\" needs a \"uri\"");
    }
    if (uri != body.end()) node.uri = CanonicalUri(uri->get_ref<const std::string&>());
    const auto pointer = body.find("pointer");
    if (pointer == body.end() || !pointer->is_string()) {
      return Wrong("\"" + name + "\" needs a \"pointer\"");
    }
    node.pointer = *pointer;
    if (!node.pointer.empty() && node.pointer[0] != '/') {
      return Wrong("pointer \"" + node.pointer + "\" does not start with '/'");
    }
    if (none) return node;
    const auto value = body.find(operand);
    if (value == body.end())
      return Wrong("\"" + name + "\" needs \"" + std::string(operand) + "\"");
    node.value = *value;
    if (several && !value->is_array()) return Wrong("\"values\" needs an array");
    if (node.kind == Node::Kind::kPrefix && !value->is_string()) {
      return Wrong("\"prefix\" needs a text");
    }
    SHOAL_RETURN_IF_ERROR(ParseExcept(body, node.except));
    return node;
  }

  static absl::Status ParseExcept(const Json& body, std::set<std::string>& except) {
    const auto names = body.find("except");
    if (names == body.end()) return absl::OkStatus();
    if (!names->is_array()) return Wrong("\"except\" needs an array");
    for (const Json& name : *names) {
      if (!name.is_string()) return Wrong("\"except\" needs names");
      except.insert(name.get<std::string>());
    }
    return absl::OkStatus();
  }

  static absl::Status CheckMembers(const std::string& name, const Json& body,
                                   std::initializer_list<std::string_view> known) {
    if (!body.is_object()) return Wrong("\"" + name + "\" needs an object");
    for (const auto& [key, value] : body.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        return Wrong("\"" + name + "\" has no \"" + key + "\"");
    }
    return absl::OkStatus();
  }
};

absl::StatusOr<std::shared_ptr<const Node>> ParseRoot(const Json& json, bool of_resource) {
  SHOAL_ASSIGN_OR_RETURN(Node root, Parser().Parse(json, 1, of_resource));
  return std::make_shared<const Node>(std::move(root));
}

std::string SummaryOf(const Json& predicate) {
  const std::string name = predicate.begin().key();
  const Json& body = *predicate.begin();
  if (name == "not") return "not " + SummaryOf(body);
  if (body.is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : body) parts.push_back(SummaryOf(part));
    return name + " of (" + absl::StrJoin(parts, "; ") + ")";
  }
  std::string summary = name;
  for (const std::string_view member : {"kind", "members", "uri", "pointer"}) {
    const auto text = body.find(member);
    if (text != body.end() && !text->get_ref<const std::string&>().empty()) {
      summary += " " + text->get_ref<const std::string&>();
    }
  }
  if (const auto uris = body.find("uris"); uris != body.end()) {
    for (const Json& uri : *uris) summary += " " + uri.get_ref<const std::string&>();
  }
  const auto holds = body.find("holds");
  return holds == body.end() ? summary : summary + " (" + SummaryOf(*holds) + ")";
}

}  // namespace

Predicate::Predicate(std::shared_ptr<const Node> root, std::shared_ptr<const Json> json)
    : root_(std::move(root)), json_(std::move(json)) {}

absl::StatusOr<Predicate> Predicate::Parse(const Json& json) {
  SHOAL_ASSIGN_OR_RETURN(auto root, ParseRoot(json, false));
  return Predicate(std::move(root), std::make_shared<const Json>(json));
}

absl::StatusOr<Predicate> Predicate::Parse(Json&& json) {
  SHOAL_ASSIGN_OR_RETURN(auto root, ParseRoot(json, false));
  return Predicate(std::move(root), std::make_shared<const Json>(std::move(json)));
}

absl::StatusOr<Predicate> Predicate::ParseOfResource(const Json& json) {
  SHOAL_ASSIGN_OR_RETURN(auto root, ParseRoot(json, true));
  return Predicate(std::move(root), std::make_shared<const Json>(json));
}

std::string Predicate::Summary() const { return SummaryOf(*json_); }

std::vector<Predicate> Predicate::Requirements() const {
  const auto all = json_->find("all");
  if (all == json_->end()) return {*this};
  std::vector<Predicate> requirements;
  for (const Json& part : *all) {
    // It is part of a predicate that was parsed.
    for (Predicate& one : Parse(part)->Requirements()) requirements.push_back(std::move(one));
  }
  return requirements;
}

bool Predicate::Evaluate(const StateView& state, const std::string& here) const {
  return root_->Holds(state, here);
}

}  // namespace shoal::redfish
