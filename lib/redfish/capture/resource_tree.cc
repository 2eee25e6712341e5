// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/resource_tree.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using Segments = std::map<std::string, std::string, std::less<>>;
using UriTest = std::function<bool(const std::string&)>;

constexpr std::string_view kBelowRoot = "/redfish/v1/";
constexpr std::string_view kEndsOfSegments = "/?#\"'<>,; \t\r\n)]}";
constexpr std::string_view kCount = "@odata.count";

template <typename Visit>
void VisitTexts(Json& value, const Visit& visit) {
  if (value.is_structured()) {
    for (Json& inner : value) VisitTexts(inner, visit);
  } else if (value.is_string()) {
    visit(value.get_ref<std::string&>());
  }
}

// Returns `text` with new segments in all URIs that are in it. `segments` are the new last segments
// by the old URI.
std::string Renamed(std::string_view text, const Segments& segments) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t start = text.find(kBelowRoot); start != std::string_view::npos;
       start = text.find(kBelowRoot, done)) {
    std::size_t at = start + kBelowRoot.size();
    result += text.substr(done, at - done);
    std::string old(kServiceRoot);
    for (bool more = true; more;) {
      const std::size_t end = std::min(text.find_first_of(kEndsOfSegments, at), text.size());
      const std::string_view segment = text.substr(at, end - at);
      old += '/';
      old += segment;
      const auto found = segments.find(old);
      result += found == segments.end() ? segment : std::string_view(found->second);
      more = end < text.size() && text[end] == '/';
      if (more) result += '/';
      at = more ? end + 1 : end;
    }
    done = at;
  }
  result += text.substr(done);
  return result;
}

// Returns whether the object is nothing but a link.
bool IsLink(const Json& value) {
  return value.is_object() && value.contains("@odata.id") &&
         std::all_of(value.items().begin(), value.items().end(),
                     [](const auto& member) { return member.key().starts_with('@'); });
}

bool LeadsTo(const Json& value, const UriTest& test) {
  if (IsLink(value)) return test(LinkTarget(value));
  if (!value.is_string()) return false;
  const std::string& text = value.get_ref<const std::string&>();
  return text.starts_with(kBelowRoot) && test(CanonicalUri(text));
}

// Leaves out links and texts that lead where `test` says.
void Prune(Json& value, const UriTest& test) {
  if (value.is_array()) {
    for (std::size_t i = value.size(); i > 0; --i) {
      if (LeadsTo(value[i - 1], test)) {
        value.erase(i - 1);
      } else {
        Prune(value[i - 1], test);
      }
    }
    return;
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const bool own =
        member.key() == "@odata.id" || member.key() == "@odata.context" || member.key() == "target";
    if (!own && LeadsTo(*member, test)) {
      member = value.erase(member);
      continue;
    }
    const std::size_t size = member->size();
    Prune(*member, test);
    if (member->is_array() && member->size() != size) {
      const auto count = value.find(member.key() + std::string(kCount));
      if (count != value.end()) *count = member->size();
    }
    ++member;
  }
}

}  // namespace

void AppendLink(Json& body, const std::string& pointer, const std::string& uri) {
  const Json* const present = Resolve(body, pointer);
  Json links = present != nullptr && present->is_array() ? *present : Json::array();
  links.push_back({{"@odata.id", uri}});
  const std::string count = pointer + std::string(kCount);
  if (Resolve(body, count) != nullptr) Assign(body, count, links.size());
  Assign(body, pointer, std::move(links));
}

Json* ResourceTree::Find(std::string_view uri) {
  const auto found = resources_.find(uri);
  return found == resources_.end() ? nullptr : &found->second;
}

void ResourceTree::AddMember(const std::string& collection, const std::string& uri, Json body) {
  Json* const list = Find(collection);
  if (list == nullptr || resources_.contains(uri)) return;
  AppendLink(*list, "/Members", uri);
  resources_.emplace(uri, std::move(body));
}

std::size_t ResourceTree::SizeOf(std::string_view uri) const {
  std::size_t size = 0;
  for (auto it = resources_.lower_bound(uri); it != resources_.end(); ++it) {
    if (!it->first.starts_with(uri)) break;
    size += IsAtOrBelow(it->first, uri) ? 1 : 0;
  }
  return size;
}

void ResourceTree::Copy(const std::string& from, const std::string& to, bool alone) {
  const Segments segments = {{from, to.substr(to.rfind('/') + 1)}};
  Capture::Resources copies;
  for (auto it = resources_.lower_bound(from); it != resources_.end(); ++it) {
    if (!it->first.starts_with(from)) break;
    if (!IsAtOrBelow(it->first, from) || (alone && it->first != from)) continue;
    Json body = it->second;
    VisitTexts(body, [&](std::string& text) { text = Renamed(text, segments); });
    copies.emplace(Renamed(it->first, segments), std::move(body));
  }
  const UriTest is_absent = [&](const std::string& uri) {
    return !resources_.contains(uri) && !copies.contains(uri);
  };
  for (auto& [uri, body] : copies) Prune(body, is_absent);
  resources_.merge(copies);
}

void ResourceTree::Remove(const std::set<std::string>& uris) {
  if (uris.empty()) return;
  std::erase_if(resources_, [&](const auto& entry) { return uris.contains(entry.first); });
  const UriTest is_removed = [&](const std::string& uri) { return uris.contains(uri); };
  for (auto& [uri, body] : resources_) Prune(body, is_removed);
}

std::set<std::string> ResourceTree::Reachable() const {
  const std::string root(kServiceRoot);
  std::set<std::string> reached = {root};
  std::deque<std::string> open = {root};
  const std::function<void(const Json&)> visit = [&](const Json& value) {
    if (value.is_structured()) {
      for (const Json& inner : value) visit(inner);
    } else if (value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      if (!text.starts_with(kBelowRoot)) return;
      std::string uri = CanonicalUri(text);
      if (resources_.contains(uri) && reached.insert(uri).second) open.push_back(std::move(uri));
    }
  };
  for (; !open.empty(); open.pop_front()) {
    const auto found = resources_.find(open.front());
    if (found != resources_.end()) visit(found->second);
  }
  return reached;
}

void ResourceTree::Rename(const Segments& segments) {
  Capture::Resources renamed;
  for (auto& [uri, body] : resources_) {
    VisitTexts(body, [&](std::string& text) {
      if (text.find(kBelowRoot) != std::string::npos) text = Renamed(text, segments);
    });
    const auto own = segments.find(uri);
    if (own != segments.end() && TextAt(body, "Id") == uri.substr(uri.rfind('/') + 1)) {
      body["Id"] = own->second;
    }
    renamed.emplace(Renamed(uri, segments), std::move(body));
  }
  resources_ = std::move(renamed);
}

}  // namespace shoal::redfish
