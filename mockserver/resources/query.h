// SPDX-License-Identifier: Apache-2.0
// The query of a GET as DSP0266, "Query parameters", defines it: only, $filter, $skip, $top,
// $expand, excerpt and $select are applied in this order to a copy. Stored resources never change.
//
//   Query query;
//   if (std::optional<Response> refusal = ParseQuery(uri, query)) return *refusal;
//   return Answer(query, uri, resource, schema, find);
//
// As the standard asks, parameters without '$' that it does not define are ignored.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/filter.h"
#include "mockserver/messages/message.h"
#include "mockserver/service/protocol_features.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// The links that $expand follows.
enum class Expansion : std::uint8_t {
  kNone,
  kSubordinate,  // "." : all but those in Links and in annotations
  kLinks,        // "~" : those in Links
  kAll,          // "*"
};

struct Query {
  bool only = false;
  bool excerpt = false;
  std::optional<Filter> filter;
  std::size_t skip = 0;
  std::optional<std::size_t> top;
  Expansion expansion = Expansion::kNone;
  int levels = 1;
  // JSON Pointers. Empty selects everything.
  std::vector<std::string> select;

  bool empty() const {
    return !only && !excerpt && !filter && skip == 0 && !top && expansion == Expansion::kNone &&
           select.empty();
  }
};

// The limits of a query, beside kMaximumLevels: the resources, and the JSON values in them, that
// one answer expands before the rest stay links; and the paths that $select may name.
inline constexpr std::size_t kMaximumExpanded = 4096;
inline constexpr std::size_t kMaximumNodes = 100'000;
inline constexpr std::size_t kMaximumSelected = 64;

// Returns whether `uri` has a parameter that the standard defines or that starts with '$'.
bool HasQuery(std::string_view uri);

// Reads the query of `uri` into `query`. Returns 501 for an unknown $parameter, 400 for a value or
// combination that makes no sense, and nothing when the query is valid.
std::optional<Response> ParseQuery(std::string_view uri, Query& query);

// Returns the answer to a GET with `query`. Where excerpt asks for the excerpt of a type that has
// none, the whole resource is returned. only, $filter, $skip and $top on a resource that is not a
// collection are 400. `uri` is that of the request, for the link to the next page.
Response Answer(const Query& query, std::string_view uri, const Json& resource,
                const redfish::Schema& schema, const redfish::FindResource& find);

}  // namespace shoal::mockserver
