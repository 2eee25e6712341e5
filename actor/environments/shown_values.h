// SPDX-License-Identifier: Apache-2.0
// The values that the body of a resource shows, as a slot of a later request may take them.
//
// A goal may ask for a value that stands in no sentence: "set the asset tag to the serial number of
// the chassis". What is taken from a body are its texts and numbers of at most kLongestValue bytes,
// those near the top first, without annotations, links and actions, and without what the schema
// chooses from a list. Secrets are never taken: no property that redfish::IsSecretName names, or
// that lies within one, and nothing of an account or a session.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/environments/generation_cache.h"
#include "actor/environments/service_catalog.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"
#include "redfish/schema/schema.h"

namespace shoal::actor {

struct ShownValue {
  // A text or a number.
  nlohmann::json value;
  // The last name of its place, such as "SerialNumber", in lower case.
  std::string name;
  // That name in words, "serial number".
  std::string name_in_words;
  // The whole place in words, "location postal address city".
  std::string place_in_words;
  redfish::StringFormat format = redfish::StringFormat::kPlain;
};

struct ShownValues {
  // The resource's type in words, such as "computer system".
  std::string type_in_words;
  std::vector<ShownValue> values;
};

// A resource that an episode has read, and how it stands to a request and to the goal.
struct ReadResource {
  std::shared_ptr<const ShownValues> shown;
  // Whether the request changes this resource.
  bool is_target = false;
  // Whether the goal's text contains one of the resource's names.
  bool is_named = false;
  // Whether something has changed since it was read.
  bool is_stale = false;
};

// "AssetTag" becomes "asset tag".
std::string InWords(std::string_view name);

// Returns whether `slot` may take the value: its type, its range, and the format of its text.
bool Fits(const redfish::Slot& slot, const ShownValue& value);

// Returns the values of `body`, a resource.
ShownValues ValuesShownBy(const nlohmann::json& body, const redfish::Schema& schema);

// Keeps the values of the bodies that were seen last. Not thread-safe: each loop has its own.
class ShownValuesCache {
 public:
  using Pointer = std::shared_ptr<const ShownValues>;

  // The most values of one body, and the longest text.
  static constexpr std::size_t kMaximumValues = 64;
  static constexpr std::size_t kLongestValue = 128;

  explicit ShownValuesCache(std::size_t capacity_bytes) : of_(capacity_bytes) {}

  // Returns the values of the body whose canonical JSON is `text`, with the key `key`. `service`
  // outlives this.
  Pointer Of(const ServiceCatalog& service, const std::string& text,
             const content::ContentKey& key);

 private:
  // The catalog, and the bytes of the body's key.
  using Key = std::pair<const redfish::Catalog*, decltype(content::ContentKey::bytes)>;

  GenerationCache<Key, Pointer> of_;
};

}  // namespace shoal::actor
