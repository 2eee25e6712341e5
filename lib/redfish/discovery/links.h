// SPDX-License-Identifier: Apache-2.0
// Finds the links of a resource's body: every "@odata.id", "Uri", "@odata.nextLink" and
// "@Redfish.ActionInfo" in it, at any depth. Settings objects and registries' locations are among
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::discovery {

struct Link {
  // The canonical URI, below the service root.
  std::string uri;
  // The request target: `uri`, with the query for a further page.
  std::string target;
};

// Returns the links in order, each once. It leaves out links to other hosts than `address`
// ("host:port"), links outside the service root, and empty ones.
std::vector<Link> LinksIn(const nlohmann::json& body, std::string_view address);

// Returns the request target of the page that a nextLink `text` of this service names: its
// canonical path and its query. Empty when the page is on another host.
std::string PageTarget(std::string_view text, std::string_view address);

// Returns the path and query of `uri` when it belongs to this service; empty otherwise.
std::string_view OwnPath(std::string_view uri, std::string_view address);

}  // namespace shoal::discovery
