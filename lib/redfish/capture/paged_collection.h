// SPDX-License-Identifier: Apache-2.0
// Joins collections that a service returns in pages (DSP0266, "Paging").
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::redfish {

// Returns the next page's URI, with its query, which "Members@odata.nextLink" or "@odata.nextLink"
// of the collection or page names; empty when there is none.
std::string NextPage(const nlohmann::json& page);

// Returns a key that identifies a page however its link is spelled: its canonical path and its
// query with escapes decoded.
std::string PageKey(std::string_view uri);

// Returns the body of the page at `uri`, which carries a query, or null when it was not recorded.
using PageLookup = std::function<const nlohmann::json*(std::string_view uri)>;

// Appends to `collection` the members of the pages that follow it, in order, and removes the link
// to them. It stops at a missing page, whose link stays, and at a page that was appended before.
// Members that are in the collection already are not repeated.
void AppendPages(nlohmann::json& collection, const PageLookup& lookup);

}  // namespace shoal::redfish
