// SPDX-License-Identifier: Apache-2.0
// A service's $metadata: which schemas its resources use, and where it hosts them (DSP0266,
// "OData metadata").
#pragma once

#include <string>

namespace shoal::mockserver {

class StandardDocuments;
class World;

inline constexpr const char* kMetadataUri = "/redfish/v1/$metadata";

// A CSDL document that refers to the hosted file of every namespace that an @odata.type of `world`
// or of what services answer by themselves is in, and of every one that those files refer to: a
// client needs no file from elsewhere. Namespaces that no hosted file defines, those of OEMs, are
// left out.
std::string MetadataOf(const World& world, const StandardDocuments& documents);

}  // namespace shoal::mockserver
