// SPDX-License-Identifier: Apache-2.0
// Turns resources into candidates, by the rules that catalog.h lists.
//
// A generator is for one use: Add every resource, or those that appeared since, then take
// `candidates` and `left_out`.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "redfish/catalog/candidate.h"
#include "redfish/catalog/service_outline.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

class CandidateGenerator {
 public:
  // `outline` and `schema` must outlive the generator, and so must `names`, which texts tell by
  // their numbers (UriWithoutNames).
  CandidateGenerator(const ServiceOutline& outline, const Schema& schema,
                     std::span<const std::string> names = {})
      : outline_(outline), schema_(schema), names_(names) {}

  // Adds all candidates of one resource.
  void Add(const std::string& uri, const nlohmann::json& resource);
  void AddWait();

  std::vector<Candidate> candidates;
  std::map<std::string, std::int64_t> left_out;

 private:
  // The place in a resource that the walk has reached.
  struct Place {
    const std::string& uri;
    const nlohmann::json& resource;
    const std::string& type;
    const nlohmann::json& object;
    std::string pointer;
  };
  // A parameter of an action, or a property that a new member needs.
  struct Parameter {
    std::string name;
    bool required = false;
    PropertyKind kind = PropertyKind::kAny;
    StringFormat format = StringFormat::kPlain;
    std::vector<nlohmann::json> values;
  };

  Candidate Start(const char* method, const std::string& uri, const nlohmann::json& resource) const;
  void Keep(Candidate candidate);
  void LeaveOut(const std::string& reason, std::int64_t count = 1) { left_out[reason] += count; }

  // Returns the known values to which the property may be set: those in `allowable`, booleans,
  // enumerations, roles.
  std::vector<nlohmann::json> ValuesOf(const Property& property,
                                       const nlohmann::json& allowable) const;
  // Adds the request that reads a collection with its members. `inserts` says whether members are
  // made in it.
  void AddExpansion(const std::string& uri, const nlohmann::json& collection, bool inserts);
  void AddPatches(const Place& place);
  void AddLeaf(const Place& place, const std::string& pointer, const Property& property,
               const nlohmann::json& allowable);
  void AddBootOverrides(const Place& place);
  void AddProtocol(const Place& place);
  void KeepPatch(const Place& place, nlohmann::json body, std::vector<Slot> slots);

  void AddActions(const std::string& uri, const nlohmann::json& resource,
                  const nlohmann::json& actions);
  void AddAction(const nlohmann::json& resource, const std::string& type, const std::string& name,
                 const nlohmann::json& description);
  std::vector<Parameter> Parameters(const std::string& type, const std::string& name,
                                    const nlohmann::json& description) const;
  void AddActionInfo(const nlohmann::json& description, std::vector<Parameter>& parameters) const;
  // `what` names the owner of the parameters in left_out.
  void KeepChoices(const Candidate& base, std::vector<Parameter> parameters,
                   const std::string& what);
  void KeepCombinations(const Candidate& base, const std::vector<Parameter>& parameters);

  // Returns the parameters that every POST that makes a resource of the type must have. With
  // `writable` it returns none unless PATCH may set all of them.
  std::vector<Parameter> CreationParameters(const std::string& type, bool writable) const;
  void AddCreations(const std::string& uri, const nlohmann::json& collection);
  // Add the candidates that compose: a PATCH where a body may have several parts, a POST that makes
  // a member, and a POST of an action with more parameters than its other candidates give.
  void AddComposedPatch(const Place& place);
  void AddComposedCreation(const std::string& uri, const nlohmann::json& collection);
  void AddComposedAction(const Candidate& base, const std::vector<Parameter>& parameters);
  void KeepComposed(Candidate candidate, std::vector<Candidate> parts);
  // Append the parts of one property, parameter or attribute.
  void AddPropertyParts(const Candidate& base, const std::string& type, const Property& property,
                        const std::string& pointer, std::vector<Candidate>& parts) const;
  void AddReferenceParts(const Candidate& base, const std::string& target,
                         const std::string& pointer, std::vector<Candidate>& parts) const;
  void AddFillings(const Place& place);

  const ServiceOutline& outline_;
  const Schema& schema_;
  const std::span<const std::string> names_;
  std::unordered_set<content::ContentKey> seen_;
  // The PATCH candidates that the present resource has got.
  std::size_t patches_ = 0;
};

// Returns false for a schema file, a registry, a log entry and a document that is no resource.
bool IsOperational(const nlohmann::json& resource);
// Judges a resource by its type alone.
bool IsOperationalType(std::string_view odata_type);

}  // namespace shoal::redfish
