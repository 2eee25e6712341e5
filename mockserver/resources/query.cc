// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/query.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/percent_encoding.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kMembersName = "Members";
constexpr const char* kCountName = "Members@odata.count";
constexpr const char* kNextLink = "Members@odata.nextLink";
constexpr const char* kId = "@odata.id";

struct Parameter {
  std::string name;
  std::string value;
};

// Decodes percent escapes, and '+' as a space.
std::string Decode(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return redfish::PercentDecoded(spaced);
}

std::vector<Parameter> ParametersOf(std::string_view uri) {
  std::vector<Parameter> parameters;
  uri = uri.substr(0, uri.find('#'));
  const std::size_t mark = uri.find('?');
  if (mark == std::string_view::npos) return parameters;
  std::string_view rest = uri.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    if (!one.empty()) parameters.push_back({Decode(one.substr(0, equals)), Decode(value)});
  }
  return parameters;
}

bool IsProtocols(const std::string& name) {
  return name.starts_with('$') || name == "only" || name == "excerpt";
}

Response BadFormat(const Parameter& parameter) {
  return ErrorResponse(400, "QueryParameterValueFormatError", {parameter.value, parameter.name});
}

std::optional<std::size_t> ParseNumber(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads ".", "~($levels=2)" and the like.
std::optional<Response> ReadExpand(const Parameter& parameter, Query& query) {
  std::string_view rest = parameter.value;
  const std::size_t which =
      rest.empty() ? std::string_view::npos : std::string_view(".~*").find(rest[0]);
  if (which == std::string_view::npos) return BadFormat(parameter);
  query.expansion = std::array{Expansion::kSubordinate, Expansion::kLinks, Expansion::kAll}[which];
  rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  constexpr std::string_view kLevels = "($levels=";
  if (!rest.starts_with(kLevels) || !rest.ends_with(')')) return BadFormat(parameter);
  const auto levels = ParseNumber(rest.substr(kLevels.size(), rest.size() - kLevels.size() - 1));
  if (!levels) return BadFormat(parameter);
  if (*levels < 1 || *levels > static_cast<std::size_t>(kMaximumLevels)) {
    return ErrorResponse(
        400, "QueryParameterOutOfRange",
        {std::to_string(*levels), "$levels", "1-" + std::to_string(kMaximumLevels)});
  }
  query.levels = static_cast<int>(*levels);
  return std::nullopt;
}

std::optional<Response> ReadSelect(const Parameter& parameter, Query& query) {
  std::string_view rest = parameter.value;
  while (true) {
    std::string_view path = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    while (path.starts_with(' ')) path.remove_prefix(1);
    while (path.ends_with(' ')) path.remove_suffix(1);
    if (path.empty() || query.select.size() == kMaximumSelected) return BadFormat(parameter);
    query.select.push_back("/" + std::string(path));
    if (rest.empty()) return std::nullopt;
  }
}

std::optional<Response> Read(const Parameter& parameter, Query& query) {
  if (parameter.name == "only" || parameter.name == "excerpt") {
    if (!parameter.value.empty()) return BadFormat(parameter);
    (parameter.name == "only" ? query.only : query.excerpt) = true;
    return std::nullopt;
  }
  if (parameter.name == "$expand") return ReadExpand(parameter, query);
  if (parameter.name == "$select") return ReadSelect(parameter, query);
  if (parameter.name == "$filter") {
    query.filter = Filter::Parse(parameter.value);
    return query.filter ? std::nullopt : std::optional(BadFormat(parameter));
  }
  if (parameter.name == "$skip" || parameter.name == "$top") {
    const auto number = ParseNumber(parameter.value);
    if (!number) return BadFormat(parameter);
    if (parameter.name == "$top") {
      query.top = *number;
    } else {
      query.skip = *number;
    }
    return std::nullopt;
  }
  return ErrorResponse(501, "QueryParameterUnsupported", {parameter.name});
}

bool IsCollection(const Json& resource) {
  const auto members = resource.find(kMembersName);
  return members != resource.end() && members->is_array();
}

// Returns `uri` with another $skip.
std::string PageAt(std::string_view uri, std::size_t skip) {
  const std::string_view path = uri.substr(0, uri.find_first_of("?#"));
  std::string_view query = uri.substr(0, uri.find('#'));
  query.remove_prefix(std::min(query.size(), path.size() + 1));
  std::string page = std::string(path) + "?$skip=" + std::to_string(skip);
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (!one.empty() && Decode(one.substr(0, one.find('='))) != "$skip")
      page.append("&").append(one);
  }
  return page;
}

void ChooseMembers(const Query& query, std::string_view uri, const redfish::FindResource& find,
                   Json& collection) {
  // The capture may hold only the first page of a larger collection. The other pages are not known.
  collection.erase(kNextLink);
  Json& members = collection[kMembersName];
  if (query.filter) {
    std::erase_if(members.get_ref<Json::array_t&>(), [&](const Json& link) {
      const Json* const member = find(redfish::LinkTarget(link));
      return member == nullptr || !query.filter->Matches(*member);
    });
    collection[kCountName] = members.size();
  }
  const std::size_t begin = std::min(query.skip, members.size());
  const std::size_t left = members.size() - begin;
  const std::size_t length = std::min(query.top.value_or(left), left);
  if (length > 0 && length < left) collection[kNextLink] = PageAt(uri, begin + length);
  Json::array_t& all = members.get_ref<Json::array_t&>();
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(begin + length), all.end());
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
}

class Expander {
 public:
  Expander(Expansion expansion, const redfish::FindResource& find)
      : expansion_(expansion), find_(find) {}

  // Follows the links of `resource`, `levels` deep.
  void Expand(Json& resource, int levels) { Visit(resource, levels, /*in_links=*/false); }

 private:
  void Visit(Json& value, int levels, bool in_links) {
    if (value.is_array()) {
      for (Json& element : value) VisitMember(element, levels, in_links);
    } else if (value.is_object()) {
      for (auto& [name, member] : value.items()) {
        const bool annotation = name.find('@') != std::string::npos;
        if (annotation && expansion_ != Expansion::kAll) continue;
        VisitMember(member, levels, in_links || name == "Links");
      }
    }
  }

  void VisitMember(Json& value, int levels, bool in_links) {
    const bool is_link = value.is_object() && value.size() == 1 && value.contains(kId);
    if (!is_link) return Visit(value, levels, in_links);
    const bool follows =
        expansion_ == Expansion::kAll || in_links == (expansion_ == Expansion::kLinks);
    if (!follows || expanded_ >= kMaximumExpanded || nodes_ >= kMaximumNodes) return;
    const Json* const target = find_(redfish::LinkTarget(value));
    if (target == nullptr) return;
    ++expanded_;
    nodes_ += NodesIn(*target);
    value = *target;
    if (levels > 1) Expand(value, levels - 1);
  }

  // Counts the values inside `value`, at every depth.
  static std::size_t NodesIn(const Json& value) {
    std::size_t nodes = 0;
    if (value.is_structured()) {
      for (const Json& inner : value) nodes += 1 + NodesIn(inner);
    }
    return nodes;
  }

  const Expansion expansion_;
  const redfish::FindResource& find_;
  std::size_t expanded_ = 0;
  std::size_t nodes_ = 0;
};

Json Select(const Json& resource, const std::vector<std::string>& pointers) {
  Json selected = Json::object();
  for (const char* name : {kId, "@odata.type", "@odata.context", "@odata.etag"}) {
    if (const auto found = resource.find(name); found != resource.end()) selected[name] = *found;
  }
  for (const std::string& pointer : pointers) {
    const Json* const found = redfish::Resolve(resource, pointer);
    if (found != nullptr) redfish::Assign(selected, pointer, *found);
  }
  return selected;
}

// Returns the resource's excerpt, or the whole resource when its type has none.
Json Excerpted(const Json& resource, const redfish::Schema& schema) {
  std::vector<std::string> pointers;
  for (const redfish::Property* property :
       schema.ExcerptProperties(redfish::TextAt(resource, "@odata.type"))) {
    pointers.push_back(redfish::AppendPointer("", property->name));
  }
  return pointers.empty() ? resource : Select(resource, pointers);
}

// Applies `shape` to each member of a collection that is expanded, and to any other body as a
// whole.
template <typename Shape>
void Reshape(const Query& query, Json& body, const Shape& shape) {
  if (!IsCollection(body) || query.expansion == Expansion::kNone) {
    body = shape(body);
    return;
  }
  for (Json& member : body[kMembersName]) {
    if (member.is_object() && member.size() > 1) member = shape(member);
  }
}

}  // namespace

bool HasQuery(std::string_view uri) {
  if (uri.find('?') == std::string_view::npos) return false;
  const std::vector<Parameter> parameters = ParametersOf(uri);
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const Parameter& parameter) { return IsProtocols(parameter.name); });
}

std::optional<Response> ParseQuery(std::string_view uri, Query& query) {
  for (const Parameter& parameter : ParametersOf(uri)) {
    if (!IsProtocols(parameter.name)) continue;
    if (auto refusal = Read(parameter, query)) return refusal;
  }
  const bool chooses = query.filter || query.skip > 0 || query.top;
  const bool shapes = query.expansion != Expansion::kNone || query.excerpt || !query.select.empty();
  if (query.only && (chooses || shapes)) return ErrorResponse(400, "QueryCombinationInvalid");
  return std::nullopt;
}

Response Answer(const Query& query, std::string_view uri, const Json& resource,
                const redfish::Schema& schema, const redfish::FindResource& find) {
  const bool of_collections = query.only || query.filter || query.skip > 0 || query.top;
  if (of_collections && !IsCollection(resource)) {
    return ErrorResponse(400, "QueryNotSupportedOnResource");
  }
  if (query.only) {
    const Json& members = resource[kMembersName];
    const Json* const member =
        members.size() == 1 ? find(redfish::LinkTarget(members.front())) : nullptr;
    return JsonResponse(200, member == nullptr ? resource : *member);
  }
  Json body = resource;
  if (of_collections) ChooseMembers(query, uri, find, body);
  if (query.expansion != Expansion::kNone)
    Expander(query.expansion, find).Expand(body, query.levels);
  if (query.excerpt) {
    Reshape(query, body, [&](const Json& whole) { return Excerpted(whole, schema); });
  }
  if (!query.select.empty()) {
    Reshape(query, body, [&](const Json& whole) { return Select(whole, query.select); });
  }
  return JsonResponse(200, std::move(body));
}

}  // namespace shoal::mockserver
