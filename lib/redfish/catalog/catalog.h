// SPDX-License-Identifier: Apache-2.0
// The catalog of a service: the ordered list of all requests that it offers, as candidates.
//
// It is made from the tree and the schema alone, by one generic rule for every service and every
// goal:
//   GET    every operational resource (no schema files, registries, log entries), and with its
//          members each collection of at most kMaximumExpanded of them, two or more, or one in
//          which members are made, where the service says that it offers $expand;
//   PATCH  each writable leaf that is present: one candidate for each value of a boolean or an
//          enumeration (the resource's AllowableValues narrow it), one with a slot for a string, a
//          number or a list of strings;
//          several leaves at once where they belong together: the boot override (target and
//          enabled), and a protocol with its switch and one more property;
//          all the properties that a new member needs, at once and with its switch on: this fills
//          account slots, and accounts that exist;
//   POST   each action with each combination of its parameters' allowable values;
//          each collection in which members are made, with the properties that the standard
//          requires of a new one: a slot for a text, one candidate for each value of an enumeration
//          and for each role;
//   DELETE each resource whose type the standard allows to be deleted;
//   WAIT   once;
//   and requests that compose: a PATCH of each resource with several of these leaves or with
//          attributes of a registry, a POST of each new member whose type has properties to set,
//          and a POST of each action with more parameters than the combinations give.
// Recorded systems and chassis are neither made nor deleted, nor are accounts where some are empty
// slots. Equal requests are listed once. Requests that are left out are counted by reason.
// Immutable.
//
// Building takes 0.2 s for the largest capture here, less than reading a stored copy would; so
// catalogs are not kept on disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/candidate.h"
#include "redfish/catalog/service_outline.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

class Catalog {
 public:
  using Counts = std::map<std::string, std::int64_t>;

  // An action, or a new member, with more combinations of arguments is only composed.
  static constexpr std::int64_t kMaximumCombinations = 64;

  // A collection that had more members when it was recorded is read member by member.
  static constexpr std::size_t kMaximumExpanded = 32;

  static absl::StatusOr<std::shared_ptr<const Catalog>> Build(const Capture& capture,
                                                              const Schema& schema);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  std::size_t size() const { return candidates_.size(); }
  // The key of the ordered list of candidate keys.
  const content::ContentKey& key() const { return key_; }
  const std::string& capture_name() const { return capture_name_; }
  // Returns the index of the first candidate that is the same request, or -1 when there is none.
  std::int64_t IndexOf(const content::ContentKey& key) const;
  // Returns the indices of the requests that the resource at `uri` offers, ascending. `wait`
  // belongs to the empty URI.
  std::span<const std::uint32_t> OfResource(const std::string& uri) const;

  // The outline of the service from which the catalog was built; candidates of resources that
  // appear later are generated with it.
  const ServiceOutline& outline() const { return *outline_; }

  // The number of candidates by method ("GET", "PATCH", ...), and under "slots" of those that have
  // slots.
  const Counts& counts() const { return counts_; }
  // The number of requests that were left out, by reason in words.
  const Counts& left_out() const { return left_out_; }
  // Returns "openbmc-stock: 219 candidates (GET 69, ...); left out: ...".
  std::string Summary() const;

 private:
  Catalog(std::string capture_name, std::unique_ptr<const ServiceOutline> outline,
          std::vector<Candidate> candidates, Counts left_out);

  const std::string capture_name_;
  const std::unique_ptr<const ServiceOutline> outline_;
  const std::vector<Candidate> candidates_;
  const Counts left_out_;
  content::ContentKey key_;
  Counts counts_;
  std::unordered_map<content::ContentKey, std::int64_t> index_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> of_resource_;
};

}  // namespace shoal::redfish
