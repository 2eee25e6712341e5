// SPDX-License-Identifier: Apache-2.0
// The documents that a service hosts besides its captured resources: its metadata and service
// document, schema and registry files, and the resources that list them.
//
// They are a function of a world and the standard's documents, made once and shared by all
// instances of the world; immutable, and safe for any number of threads. The world's own resources
// take precedence: ask here only for URIs that the world lacks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mockserver/service/standard_documents.h"
#include "platform/runtime/text_map.h"

namespace shoal::mockserver {

class World;

class WorldDocuments {
 public:
  // Borrows `world` for the call only.
  WorldDocuments(const World& world, std::shared_ptr<const StandardDocuments> standard);

  // Returns what GET of the canonical `uri` answers, which is read-only:
  //   /redfish/v1/$metadata, /redfish/v1/odata, /redfish/v1/openapi.yaml;
  //   /redfish/v1/JsonSchemas and /redfish/v1/Registries with their members, each where the world
  //   has no such collection;
  //   the URI of a DMTF file that a resource of the world names and the world lacks in any
  //   capitals: a hosted file, possibly of another minor version, stands in. Where the world has
  //   the file in other capitals, the named URI is absent;
  //   the files that StandardDocuments hosts.
  // Generated text is the same object each time; a hosted file is a new object each time.
  Document Find(std::string_view uri) const;
  // Returns whether Find has a document there, without unpacking it.
  bool Has(std::string_view uri) const;

  // Returns the value of the Link header for a resource of the type, `</...json>; rel=describedby`
  // (DSP0266, "Link header"): the world's own schema file for exactly this type, else the hosted
  // file, named without a version where its version differs. Empty when neither knows the type.
  std::string DescribedBy(std::string_view odata_type) const;

 private:
  // A kind of resource that says where a file is.
  struct Kind;
  // The URIs of the world, by the same URIs in lower case.
  using Spellings = runtime::TextMap<std::string>;

  void AddGenerated(std::string uri, std::string bytes, std::string_view content_type);
  void AddFileResources(const World& world, const Kind& kind);
  void AddOwnFiles(const World& world);
  // Returns the URI of the hosted file that stands in for the file at `uri`, or `uri` itself when
  // none does.
  std::string_view Hosted(std::string_view uri) const;
  void AddOwnFile(const World& world, const Spellings& spellings, const std::string& type,
                  const std::string& uri, std::string_view hosted);

  const std::shared_ptr<const StandardDocuments> standard_;
  runtime::TextMap<Document> generated_;
  // Maps URIs that the world names to URIs that are hosted.
  runtime::TextMap<std::string> stand_ins_;
  // The world's own schema files, by the @odata.type that they describe.
  runtime::TextMap<std::string> own_schemas_;
};

inline constexpr const char* kOpenApiUri = "/redfish/v1/openapi.yaml";

// Returns a service's OpenAPI 3.0 document (DSP0266, "OpenAPI schema description"), with every
// captured URI and action and the methods that it takes. It is JSON, which is valid YAML.
std::string OpenApiOf(const World& world);

}  // namespace shoal::mockserver
