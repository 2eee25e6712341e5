// SPDX-License-Identifier: Apache-2.0
// Where a resource's body leads: every "@odata.id", "Uri", "@odata.nextLink" and
// "@Redfish.ActionInfo" in it, at any depth; settings objects and registries' locations are among
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::discovery {

struct Link {
  // Canonical, below the service root.
  std::string uri;
  // What to ask for: `uri`, and of a further page its query.
  std::string target;
};

// Links to other hosts than `address` ("host:port"), to what is not below the service root and to
// nothing at all are left out; the rest is in order, each once.
std::vector<Link> LinksIn(const nlohmann::json& body, std::string_view address);

// What to ask for to get the page that a nextLink `text` of this service names: its canonical path
// and its query. Empty when it is another's.
std::string PageTarget(std::string_view text, std::string_view address);

// The path and query of `uri` when it is of this service; empty otherwise.
std::string_view OwnPath(std::string_view uri, std::string_view address);

}  // namespace shoal::discovery
