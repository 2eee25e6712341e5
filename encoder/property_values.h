// SPDX-License-Identifier: Apache-2.0
// The values that properties have over many bodies, and bodies in which properties are changed or
// left out.
//
// A property is a member that holds a text, a number or a boolean, at any depth; equal names are
// the same property. Links, names with "@", and properties with one value or more than kMaxValues
// (serial numbers, say) are none. Draws are functions of the Random alone. Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::encoder {

// The place of a property in a body.
struct PropertyPlace {
  nlohmann::json::json_pointer pointer;
  std::string name;
};

class PropertyValues {
 public:
  static constexpr std::size_t kMaxValues = 64;
  // A value, and how many of the bodies' places hold it.
  struct Counted {
    nlohmann::json value;
    std::size_t count = 0;
  };

  explicit PropertyValues(std::span<const nlohmann::json* const> bodies);

  // The properties with their values, the most frequent first.
  const std::map<std::string, std::vector<Counted>>& properties() const { return properties_; }

  // Returns the places of a body's properties, in the order of the body.
  std::vector<PropertyPlace> PlacesIn(const nlohmann::json& body) const;

  // Gives one property of `body` another of its values, and returns its place; nullopt for a body
  // without properties.
  std::optional<PropertyPlace> ChangeOne(nlohmann::json& body, runtime::Random& random) const;

 private:
  std::map<std::string, std::vector<Counted>> properties_;
};

// Returns `body` without some members: each member of an object that holds no object or list is
// left out with probability `share`, and each other member of the whole with the same, but neither
// names with "@" nor what leads to `kept`.
nlohmann::json WithoutSome(const nlohmann::json& body, const nlohmann::json::json_pointer& kept,
                           double share, runtime::Random& random);

// Leaves out members of the whole, drawn at random, until the body's text (BodyText) has at most
// `bytes` or only names with "@" are left.
nlohmann::json Shortened(nlohmann::json body, std::size_t bytes, runtime::Random& random);

}  // namespace shoal::encoder
