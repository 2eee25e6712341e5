// SPDX-License-Identifier: Apache-2.0
// A simulated host that `shoal do` operates: it speaks TLS, wants a login, is slow and fails now
// and then, and its own history says what was done to it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mock_process.h"
#include "redfish/capture/capture.h"
#include "redfish/goals/goal.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {

// A goal on a capture with an episode of it.
struct DrawnGoal {
  std::shared_ptr<const redfish::AppliedGoal> goal;
  redfish::Episode episode = {};
};

// All goals of data/goals that a twin can solve, on the named captures.
class DrawnGoals {
 public:
  explicit DrawnGoals(const std::vector<std::string>& captures);

  // Returns the same goal for the same number. `names` restricts the goals; empty means all.
  DrawnGoal Draw(std::uint64_t number, const std::vector<std::string>& names = {}) const;
  // Draws the goal `name` until `fits` its episode.
  template <typename Fits>
  DrawnGoal DrawWhere(const std::string& name, const Fits& fits) const {
    std::uint64_t number = 0;
    DrawnGoal drawn = Draw(number, {name});
    while (!fits(drawn.episode)) drawn = Draw(++number, {name});
    return drawn;
  }
  const redfish::Capture& capture(const std::string& name) const { return *captures_.at(name); }

 private:
  std::map<std::string, std::shared_ptr<const redfish::Capture>> captures_;
  std::vector<std::shared_ptr<const redfish::AppliedGoal>> goals_;
};

// Whether something is to be done for the goal at the start.
bool IsOpen(const redfish::Episode& episode);

// What became of an operation, by the host's own account.
struct Verdict {
  bool satisfied = false;
  // The requests that changed something, as "PATCH /redfish/v1/Systems/1", logins and a logout for
  // each of them apart.
  std::vector<std::string> changes = {};
};

class OperatedHost {
 public:
  explicit OperatedHost(const std::vector<std::string>& captures);

  // Makes a fresh service with the start of the episode. `faults` is the list of the control API.
  void Begin(const DrawnGoal& drawn, const nlohmann::json& faults);
  void End();
  // Teaches the service rules of the control API (mockserver/rules/rules.h).
  void Teach(const nlohmann::json& rules);

  // The arguments with which `shoal do` reaches the drawn goal, and logs below `audit`.
  std::vector<std::string> Arguments(const DrawnGoals& goals, const DrawnGoal& drawn,
                                     const std::string& audit) const;
  // The flags of `shoal train` with which the host, which has this capture, is an environment.
  std::vector<std::string> EnvironmentFlags(const redfish::Capture& capture) const;
  // The table of a file of hosts (operate/host_list.h) that lists the host with this capture.
  std::string Table(const redfish::Capture& capture) const;
  Verdict Judge() const;
  const std::string& url() const { return url_; }
  // The path of the audit log below `audit`.
  std::string LogBelow(const std::string& audit) const;

 private:
  nlohmann::json Control(const std::string& method, const std::string& path,
                         const nlohmann::json& body) const;
  // The keys of a configuration that say how the host is reached.
  std::map<std::string, std::string> Access(const redfish::Capture& capture) const;

  const doubles::TemporaryFolder files_;
  MockProcess mock_;
  std::string url_;
};

// Returns faults of the control API: all requests take a while, and this share of them goes wrong,
// in five ways.
nlohmann::json Faults(double rate, int latency_ms);
// Returns the arguments with a sentence in place of the goal's name.
std::vector<std::string> InWords(std::vector<std::string> arguments, const std::string& sentence);
// Returns `arguments` and then `more`.
std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more);
// Runs the command, interrupts it once it has sent a request that its log holds, and returns what
// it wrote.
std::string InterruptOnceSent(const std::vector<std::string>& arguments, const std::string& log);

// Returns the records of an audit log.
std::vector<nlohmann::json> AuditOf(const std::string& path);
// Returns the requests that the log says were sent, as in Verdict::changes.
std::vector<std::string> SentIn(const std::vector<nlohmann::json>& records);
// Returns the requests that the log says were sent and that are not those of its plan, with the
// host's URIs in place of the twin's.
std::vector<std::string> UnlikePlan(const std::vector<nlohmann::json>& records);
// Returns those of `changes` that `sent` does not account for.
std::vector<std::string> Unannounced(std::vector<std::string> changes,
                                     std::vector<std::string> sent);

}  // namespace shoal::tests
