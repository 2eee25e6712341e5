// SPDX-License-Identifier: Apache-2.0
// Everything that can be asked of a service: the ordered list of its candidates.
//
// Made from the tree and the schema alone, by one generic rule for every service and every goal:
//   GET    every operational resource (no schema files, registries, log entries);
//   PATCH  each writable leaf that is present, one candidate for each value of a boolean or an
//          enumeration (the resource's AllowableValues narrow it), one with a slot for a string, a
//          number or a list of strings;
//          an object whose leaves belong together, with all of them at once: the boot override
//          (target and enabled), a protocol with more than its switch;
//          and what a member of a collection is made with, all at once, with its switch on: slots
//          are filled so, and accounts that are there;
//   POST   each action with each combination of its parameters' allowable values;
//          each collection that members are made in, with what the standard requires of a new one:
//          a slot for a text, one candidate for each value of an enumeration and for each role;
//   DELETE what the standard lets go;
//   WAIT   once.
// Recorded systems and chassis neither come nor go, nor do accounts where some are empty slots.
// An equal request is listed once. What is left out is counted by reason. Immutable.
//
// Building takes 0.2 s for the largest capture here, less than reading a stored copy would; so
// catalogs are not kept on disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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

  // An action, or a new member, with more combinations of arguments is left out.
  static constexpr std::int64_t kMaximumCombinations = 64;

  static absl::StatusOr<std::shared_ptr<const Catalog>> Build(const Capture& capture,
                                                              const Schema& schema);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  std::size_t size() const { return candidates_.size(); }
  // The key of the ordered candidate keys.
  const content::ContentKey& key() const { return key_; }
  const std::string& capture_name() const { return capture_name_; }
  // Index of the first candidate that is the same request; -1 when there is none.
  std::int64_t IndexOf(const content::ContentKey& key) const;

  // The outline of the service from which the catalog was built; candidates of resources that
  // appear later are generated with it.
  const ServiceOutline& outline() const { return *outline_; }

  // Candidates by method ("GET", "PATCH", ...) and "slots": those that have any.
  const Counts& counts() const { return counts_; }
  // How many requests were left out, by reason in words.
  const Counts& left_out() const { return left_out_; }
  // "openbmc-stock: 219 candidates (GET 69, ...); left out: ...".
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
};

}  // namespace shoal::redfish
