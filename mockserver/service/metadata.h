// SPDX-License-Identifier: Apache-2.0
// A service's $metadata document: the schemas that its resources use, and where it hosts them
// (DSP0266, "OData metadata").
#pragma once

#include <string>

namespace shoal::mockserver {

class StandardDocuments;
class World;

inline constexpr const char* kMetadataUri = "/redfish/v1/$metadata";

// Returns a CSDL document that refers to the hosted file of every namespace in use: those of each
// @odata.type in `world` and in answers of the service itself, and those that these files refer to
// in turn. A client thus needs no file from elsewhere. Namespaces that no hosted file defines, such
// as those of OEMs, are left out.
std::string MetadataOf(const World& world, const StandardDocuments& documents);

}  // namespace shoal::mockserver
