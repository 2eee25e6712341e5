// SPDX-License-Identifier: Apache-2.0
// Compares what a host shows with what its twin showed.
//
// Functions of their arguments alone, safe for any number of threads.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operate/step.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

// The URIs of the host for those of the twin, which differ for resources that steps made.
using MadeUris = std::map<std::string, std::string>;
// Returns `uri` on the host: the longest URI of `made` that it is at or below is replaced.
std::string OnHost(const MadeUris& made, const std::string& uri);
// Does so for every text in `json` that is such a URI.
nlohmann::json OnHost(const MadeUris& made, const nlohmann::json& json);

// Returns whether the host's value is as expected. Absent equals null, integers equal floats, and
// of an object only the expected members without '@' count.
bool IsSame(const nlohmann::json& host, const nlohmann::json& expected);

// The resources of a host by URI; null for one that is absent.
using Bodies = std::map<std::string, nlohmann::json>;

// What a host shows of the effects of a step.
struct Sight {
  // Whether all effects that matter show as before, or as after the step. Both hold when none
  // matters.
  bool is_before = true;
  bool is_after = true;
  // One sentence for each effect that matters and does not show as after the step.
  std::vector<std::string> missing = {};
  // The present values of all effects by "<uri> <pointer>", with the URIs of the twin.
  nlohmann::json values = nlohmann::json::object();
  // The new members of the collection to which the step posts, where none of them can be told to be
  // the step's own. SightOf leaves it empty.
  std::vector<std::string> strangers = {};
};
// `bodies` has all resources of the effects, by the URIs of the host.
Sight SightOf(std::span<const Effect> effects, const MadeUris& made, const Bodies& bodies);

// Returns whether a new member of a collection can be told to be what a POST of `request` made: it
// shows a value of the request, and none that differs. Secrets do not count, nor does what the
// member does not show. Sessions of a user look alike, so none of them can be told.
bool ShowsRequest(const nlohmann::json& request, const nlohmann::json& member);

// Returns whether anything differs between the values of two sights of a step.
bool HasMoved(const nlohmann::json& before, const nlohmann::json& now);

// What became of a request whose answer was lost.
enum class Fate { kDone, kNotDone, kUnclear };
// Judges by what the host showed before the request and shows now. A request without effects on the
// twin is not done if it is harmless to repeat (PATCH, PUT, DELETE), and else unclear.
Fate FateOf(const Step& step, const nlohmann::json& before, const Sight& now);

// Returns whether two statuses are of one class, such as 2xx.
bool IsSameClass(int status, int other);

}  // namespace shoal::operate
