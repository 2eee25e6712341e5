// SPDX-License-Identifier: Apache-2.0
// What an operation is about to do on one host: the goal, the steps that reach it on the twin, and
// the conditions that decide whether it is reached.
//
// An announcement is a plain value. The audit log holds it without secrets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operate/secrets.h"
#include "operate/step.h"
#include "platform/runtime/status.h"
#include "redfish/goals/predicate.h"
#include "redfish/goals/situation.h"

namespace shoal::operate {

struct Announcement {
  // Names the command that operates this host and maybe others, so that it knows its own operations
  // in their logs; empty names none.
  std::string command = {};
  std::string host = {};
  // The goal's name and the sentence with which it was asked for, which may be empty.
  std::string goal = {};
  std::string sentence = {};
  // Whether the sentence alone says which goals, and the names of the values that were given beside
  // it. Whoever says the same again goes on with the operation.
  bool is_understood = false;
  std::vector<std::string> given = {};
  // The values of the goal as they were given, or a list with those of each goal.
  nlohmann::json values = nlohmann::json::object();
  // How the steps were found, such as "the expert's plan".
  std::string solver = {};
  std::vector<Step> steps = {};
  // A predicate as in redfish/goals/predicate.h.
  nlohmann::json predicate = nullptr;
  // What happened on the twin, for conditions on what a host does not tell afterwards.
  std::vector<redfish::HistoryRecord> history = {};
};

// Returns the announcement without `secrets`, and with a digest of each secret that it needs
// (secret_digest.h). Errors are those of DigestOf.
absl::StatusOr<nlohmann::json> ToJson(const Announcement& announcement, const Secrets& secrets);
// Reads an announcement from the log and puts `secrets` back. DATA_LOSS when `json` is none,
// FAILED_PRECONDITION when it needs a secret that is not known, or that is another one now, and
// INTERNAL as IsDigestOf does.
absl::StatusOr<Announcement> ParseAnnouncement(const nlohmann::json& json, const Secrets& secrets);
// The same for what ToJson has just made with these secrets: the digests, which take long, are not
// compared, so no INTERNAL either.
absl::StatusOr<Announcement> ParseOwnAnnouncement(const nlohmann::json& json,
                                                  const Secrets& secrets);

// Returns the secrets with which a command goes on with the logged `plan` that says `sentence` and
// gives `given` beside it. Nothing where the plan's goals were not understood from that sentence,
// or where values of other names were given. The digests are not compared.
std::optional<Secrets> RecallSecrets(const nlohmann::json& plan, std::string_view sentence,
                                     const redfish::Values& given);

// Returns the announcement for people: each request with what it changes, without secrets.
std::string AnnouncementText(const Announcement& announcement, const Secrets& secrets);

}  // namespace shoal::operate
