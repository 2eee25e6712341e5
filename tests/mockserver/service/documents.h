// SPDX-License-Identifier: Apache-2.0
// The shipped documents, loaded once for a test program, and those of the shipped captures' worlds.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "mockserver/service/standard_documents.h"
#include "mockserver/service/world_documents.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

inline std::shared_ptr<const StandardDocuments> TestDocuments() {
  static const auto kDocuments = StandardDocuments::Load({}).value();
  return kDocuments;
}

// Returns a world that hosts the documents beside its resources, as the program does.
inline std::shared_ptr<const World> HostingWorldOf(const std::string& name) {
  return MadeWorld(name, {.documents = TestDocuments()});
}

inline const WorldDocuments& DocumentsOf(const std::string& name) {
  static std::map<std::string, std::unique_ptr<const WorldDocuments>> all;
  auto& documents = all[name];
  if (documents == nullptr) {
    documents = std::make_unique<WorldDocuments>(*WorldOf(name), TestDocuments());
  }
  return *documents;
}

}  // namespace shoal::mockserver
