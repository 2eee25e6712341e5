// SPDX-License-Identifier: Apache-2.0
// A privilege registry says which privileges a request needs (DSP8011; DSP0266, "Redfish service
// operation-to-privilege mapping").
//
//   registry->Allows({.method = "PATCH", .entity = "ManagerAccount", .properties = names},
//                    granted);
//
// Immutable after Load, shared by pointer, safe for any number of threads.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {

class PrivilegeRegistry {
 public:
  // A request to judge. It borrows its parts for the length of the call.
  struct Operation {
    // "GET", "HEAD", "PATCH", "PUT", "POST" or "DELETE"; any other is refused. An action is a POST
    // to its resource.
    std::string_view method;
    // The resource's type without version, such as "ManagerAccount", which EntityOf derives from
    // its @odata.type.
    std::string_view entity;
    // The entities that the resource is subordinate to, the outermost first: AncestorEntities.
    std::span<const std::string> ancestors = {};
    // The canonical URI.
    std::string_view uri = {};
    // The top-level properties that the request writes; annotations among them do not count.
    std::span<const std::string> properties = {};
  };

  // Loads an archive or folder that holds one "..._PrivilegeRegistry.json". NOT_FOUND: it holds
  // none. DATA_LOSS: the file is no privilege registry, or lists an operation that needs no
  // privilege at all.
  static absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> Load(const std::string& path);
  // `name` is the registry's name in errors.
  static absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> Parse(const std::string& name,
                                                                        const nlohmann::json& json);

  // Returns whether a user with the privileges `granted` may perform the operation. A user who is
  // not logged in has none.
  //
  // The registry lists alternatives, each of privileges that are needed together; NoAuth needs
  // none. The mapping of the URI takes precedence over that of the ancestors, and both over the
  // entity's own; where one has no entry for the method, the next one counts. A property with a
  // mapping of its own needs that mapping's privileges, all others need those of the resource, and
  // every property must be allowed.
  //
  // ConfigureSelf only says that users may change what is their own. REQUIRES: `granted` has it
  // only when the request is for the user's own account or session.
  //
  // An entity that the registry lacks, such as an OEM's, can be read with Login and changed with
  // ConfigureManager.
  bool Allows(const Operation& operation, std::span<const std::string> granted) const;

  std::size_t size() const { return mappings_.size(); }

 private:
  // Any one of the alternatives suffices.
  using Alternatives = std::vector<std::vector<std::string>>;
  using OperationMap = std::map<std::string, Alternatives, std::less<>>;
  struct Override {
    std::vector<std::string> targets;
    OperationMap operations;
  };
  struct Mapping {
    OperationMap operations;
    std::vector<Override> by_ancestors;
    std::vector<Override> by_uri;
    std::vector<Override> by_property;
  };

  static OperationMap ReadOperations(const nlohmann::json& json);
  static std::vector<Override> ReadOverrides(const nlohmann::json& mapping, const char* name);
  static const Alternatives* ForResource(const Mapping& mapping, const Operation& operation);
  static const Alternatives* ForProperty(const Mapping& mapping, const Operation& operation,
                                         const std::string& property);

  std::map<std::string, Mapping, std::less<>> mappings_;
};

// Returns "ManagerAccount" for "#ManagerAccount.v1_12_0.ManagerAccount", and an empty text for what
// is no type.
std::string EntityOf(std::string_view odata_type);

// Returns the entities of the resources above canonical `uri` in its path, the outermost first.
// Levels where `find` finds no resource are left out.
std::vector<std::string> AncestorEntities(std::string_view uri, const FindResource& find);

}  // namespace shoal::redfish
