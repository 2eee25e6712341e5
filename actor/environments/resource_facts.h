// SPDX-License-Identifier: Apache-2.0
// What the body of a resource says about the requests to it: which of them would change nothing,
// and by which names a goal may call the resource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/generation_cache.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/service_catalog.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"
#include "redfish/schema/schema.h"

namespace shoal::actor {

// How the values in a request's body compare with those that its resource holds.
enum class Held : std::uint8_t {
  // The resource shows none of the request's properties, or hides their values.
  kUnknown,
  // It holds every value that it shows of them.
  kAll,
  // It holds another value for at least one.
  kOther,
};

// Compares the values in the candidate's body that are no slots with those at the same places of
// `body`.
Held CompareFixed(const redfish::Candidate& candidate, const nlohmann::json& body);

class ResourceFacts {
 public:
  using Candidates = std::span<const redfish::Candidate* const>;

  // `candidates` are all requests to the resource, and `body` is what it holds.
  ResourceFacts(Candidates candidates, const nlohmann::json& body, const redfish::Schema& schema);

  // Compares the request at place `index` among the candidates. A slot holds what is wanted when
  // the goal's `text`, in lower case, contains what the resource holds there, or the first member
  // of the list that it holds. Returns kUnknown for a place that there was not.
  Held Compare(std::size_t index, std::string_view text) const;
  // Returns whether `text` contains one of the resource's names as whole words. Names are all texts
  // that the body holds, but for those that the schema chooses from a list. `text` is in lower
  // case.
  bool IsNamedIn(std::string_view text) const;

  // Returns the least index of a word, in lower case, that is one of the names; words.size() if
  // none is.
  std::size_t FindName(std::span<const std::string> words) const;

  // The memory that the object takes.
  std::size_t bytes() const;

 private:
  // A slot of a request, and what the resource holds in its place.
  struct SlotFact {
    std::size_t index = 0;
    // What is held as a text in lower case.
    std::string held;
  };

  void AddNames(const nlohmann::json& object, const std::string& type, const std::string& pointer,
                const redfish::Schema& schema);

  std::vector<Held> fixed_;
  // Ordered by index.
  std::vector<SlotFact> slots_;
  std::vector<std::string> names_;
};

// Keeps the facts of the bodies that were seen last. Not thread-safe: each loop has its own.
class ResourceFactsCache {
 public:
  using Pointer = std::shared_ptr<const ResourceFacts>;

  explicit ResourceFactsCache(std::size_t capacity_bytes) : of_(capacity_bytes) {}

  // Returns the facts of the body of `response`, which `text` describes. Two bodies with the same
  // text have the same facts; their resource has the same candidates. `service` outlives this.
  Pointer Of(const ServiceCatalog& service, const ServiceResponse& response, const BodyText& text,
             ResourceFacts::Candidates candidates);

 private:
  // The catalog, the number of candidates, and the bytes of the body's key.
  using Key =
      std::tuple<const redfish::Catalog*, std::size_t, decltype(content::ContentKey::bytes)>;

  GenerationCache<Key, Pointer> of_;
};

}  // namespace shoal::actor
