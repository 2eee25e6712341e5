// SPDX-License-Identifier: Apache-2.0
// Collections that a service hands out in pages (DSP0266, "Paging"), put together again.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::redfish {

// The next page's URI, query included, that "Members@odata.nextLink" or "@odata.nextLink" names, or
// the page's body; empty when there is none.
std::string NextPage(const nlohmann::json& page);

// Identifies a page however its link is spelled: by its canonical path and its query, with escapes
// undone.
std::string PageKey(std::string_view uri);

// The body of the page at `uri`, which carries a query; null when it was not recorded.
using PageLookup = std::function<const nlohmann::json*(std::string_view uri)>;

// Appends to `collection` the members of the pages that follow it, in order, and takes the link to
// them away. Ends at a page that is not there, whose link stays, and at one that was there before.
// Members that stand in it already are not repeated.
void AppendPages(nlohmann::json& collection, const PageLookup& lookup);

}  // namespace shoal::redfish
