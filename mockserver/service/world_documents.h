// SPDX-License-Identifier: Apache-2.0
// What a service hosts besides its captured resources: its metadata and service document, schema
// and registry files, and the resources that list them.
//
// A function of a world and the standard's documents, made once and shared by all instances of the
// world; immutable, safe for any number of threads. The world's own resources go before all of it:
// ask here for what the world has not got.
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
  // Borrows `world` for the call alone.
  WorldDocuments(const World& world, std::shared_ptr<const StandardDocuments> standard);

  // What GET of canonical `uri` answers, read-only:
  //   /redfish/v1/$metadata, /redfish/v1/odata, /redfish/v1/openapi.yaml;
  //   /redfish/v1/JsonSchemas and /redfish/v1/Registries with their members, each where the world
  //   has no such collection;
  //   a file's URI that a resource of the world names and the world lacks, in other capitals too,
  //   when the file is DMTF's: the hosted one stands in, of another minor version maybe; what was
  //   captured in other capitals is absent in these;
  //   the files that StandardDocuments hosts.
  // Generated text is the same object each time; a hosted file is a new one.
  Document Find(std::string_view uri) const;
  // Whether Find has something there, without unpacking it.
  bool Has(std::string_view uri) const;

  // Value of the Link header for a resource of the type, `</...json>; rel=describedby` (DSP0266,
  // "Link header"): the world's own schema file for just this type, else the hosted one, without
  // a version where it is of another. Empty when neither knows the type.
  std::string DescribedBy(std::string_view odata_type) const;

 private:
  // A kind of resource that says where a file is.
  struct Kind;
  // URIs of the world by the same in small letters.
  using Spellings = runtime::TextMap<std::string>;

  void AddGenerated(std::string uri, std::string bytes, std::string_view content_type);
  void AddFileResources(const World& world, const Kind& kind);
  void AddOwnFiles(const World& world);
  // Of a file that stands in at `uri`, else `uri`.
  std::string_view Hosted(std::string_view uri) const;
  void AddOwnFile(const World& world, const Spellings& spellings, const std::string& type,
                  const std::string& uri, std::string_view hosted);

  const std::shared_ptr<const StandardDocuments> standard_;
  runtime::TextMap<Document> generated_;
  // URIs that the world names, to those that are hosted.
  runtime::TextMap<std::string> stand_ins_;
  // The world's own schema files, by the @odata.type that they describe.
  runtime::TextMap<std::string> own_schemas_;
};

}  // namespace shoal::mockserver
