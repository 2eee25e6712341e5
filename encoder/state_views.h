// SPDX-License-Identifier: Apache-2.0
// Draws the texts that a state encoder is trained on: views of states of bodies.
//
// A batch has bodies of some types, several of each type. Each body stands in two states, as it is
// and with one property changed, and each state in two views, in which other properties are left
// out: the same ones in both first views, and the same ones in both second views. So the second
// views of the two states differ in one value only, and to find the partner of a first view a
// latent must hold that value. A body without a property to change stands in one state.
//
// A batch is a function of (seed, purpose, number). Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/property_values.h"
#include "text/embedding/splitting.h"

namespace shoal::encoder {

struct StateViewOptions {
  // The bodies of a batch, at least 1, and how many neighbours in it have the same type.
  std::size_t bodies = 16;
  std::size_t of_one_type = 2;
  // The share of properties that a view lacks, from 0 to 1.
  double left_out = 0.15;
  // Longer bodies lose members.
  std::size_t body_bytes = 4096;
};

struct StateViews {
  // The distinct segments of all views.
  std::vector<std::string> segments;
  struct Use {
    std::int64_t segment = 0;
    float weight = 1;
  };
  // The segments of the views, one view after the other; view v ends before ends[v].
  std::vector<Use> uses;
  std::vector<std::size_t> ends;
  // Which other view is of the same state; first and second views take turns.
  std::vector<std::int64_t> partners;
};

class StateViewSource {
 public:
  // `bodies` must outlive the source. REQUIRES: there is a body.
  StateViewSource(std::span<const nlohmann::json* const> bodies, const StateViewOptions& options,
                  std::uint64_t seed);

  StateViews Draw(std::string_view purpose, std::uint64_t number) const;

  // Returns the segments of about `count` bodies drawn at random.
  std::vector<std::string> SomeSegments(std::size_t count) const;

 private:
  const StateViewOptions options_;
  const std::uint64_t seed_;
  const PropertyValues values_;
  const embedding::Splitting splitting_;
  // The bodies of each type, so that a type with thousands of bodies is drawn no more often.
  std::vector<std::vector<const nlohmann::json*>> types_;
};

}  // namespace shoal::encoder
