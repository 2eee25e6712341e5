// SPDX-License-Identifier: Apache-2.0
// The query of a GET, as DSP0266, "Query parameters", defines it: only, $filter, $skip, $top,
// $expand, excerpt, $select, applied in this order to a copy; what is stored never changes.
//
//   Query query;
//   if (std::optional<Response> refusal = ParseQuery(uri, query)) return *refusal;
//   return Answer(query, uri, resource, schema, find);
//
// Parameters without '$' that the standard does not define are ignored, as it asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/filter.h"
#include "mockserver/messages/message.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// Which links $expand follows.
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
  // JSON Pointers; empty: everything.
  std::vector<std::string> select;

  bool empty() const {
    return !only && !excerpt && !filter && skip == 0 && !top && expansion == Expansion::kNone &&
           select.empty();
  }
};

// Levels that $expand may ask for; resources, and JSON values in them, that one answer expands
// before the rest stay links; paths that $select may name.
inline constexpr int kMaximumLevels = 6;
inline constexpr std::size_t kMaximumExpanded = 4096;
inline constexpr std::size_t kMaximumNodes = 100'000;
inline constexpr std::size_t kMaximumSelected = 64;

// Whether `uri` has a parameter that the standard defines, or that starts with '$'.
bool HasQuery(std::string_view uri);

// Reads the query of `uri` into `query`; a refusal when it is not one that this service takes: 501
// for an unknown $parameter, 400 for a value or a combination that makes no sense.
std::optional<Response> ParseQuery(std::string_view uri, Query& query);

// What GET answers. A type without an excerpt is answered whole. 400 where only, $filter, $skip and
// $top do not meet a collection. `uri` is the request's, for the link to the next page.
Response Answer(const Query& query, std::string_view uri, const Json& resource,
                const redfish::Schema& schema, const redfish::FindResource& find);

}  // namespace shoal::mockserver
