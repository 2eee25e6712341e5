// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/paged_collection.h"

#include <algorithm>
#include <set>
#include <utility>

#include "redfish/capture/percent_encoding.h"
#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr const char* kNextLinks[] = {"Members@odata.nextLink", "@odata.nextLink"};
constexpr const char* kMembers = "Members";

void AppendMembers(Json& members, const Json& page, std::set<std::string>& seen) {
  const auto found = page.find(kMembers);
  if (found == page.end() || !found->is_array()) return;
  for (const Json& member : *found) {
    const std::string target = LinkTarget(member);
    if (target.empty() || seen.insert(target).second) members.push_back(member);
  }
}

}  // namespace

std::string NextPage(const Json& page) {
  for (const char* name : kNextLinks) {
    std::string uri = TextAt(page, name);
    if (!uri.empty()) return uri;
  }
  return {};
}

std::string PageKey(std::string_view uri) {
  uri = uri.substr(0, uri.find('#'));
  const std::size_t query = std::min(uri.find('?'), uri.size());
  return CanonicalUri(uri.substr(0, query)) + PercentDecoded(uri.substr(query));
}

void AppendPages(Json& collection, const PageLookup& lookup) {
  const auto members = collection.find(kMembers);
  if (members == collection.end() || !members->is_array()) return;
  std::set<std::string> seen;
  for (const Json& member : *members) seen.insert(LinkTarget(member));
  // The set holds pages, not their links: a circle may spell its links anew each time.
  std::set<const Json*> pages;
  for (std::string next = NextPage(collection); !next.empty();) {
    const Json* const page = lookup(next);
    if (page == nullptr || !pages.insert(page).second) return;
    AppendMembers(*members, *page, seen);
    next = NextPage(*page);
    for (const char* name : kNextLinks) {
      const auto link = collection.find(name);
      if (link == collection.end()) continue;
      if (next.empty()) {
        collection.erase(link);
      } else {
        *link = next;
      }
    }
  }
}

}  // namespace shoal::redfish
