// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/evaluation_log.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace shoal::actor {

absl::StatusOr<std::unique_ptr<EvaluationLog>> EvaluationLog::Create(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ofstream file(path, std::ios::trunc);
  if (!file) return runtime::FailedPrecondition("cannot write " + path);
  return std::unique_ptr<EvaluationLog>(new EvaluationLog(path, std::move(file)));
}

void EvaluationLog::WritePlan(const EvaluationPlan::Work& work) {
  const std::uint64_t each =
      work.counted > 0 ? std::min(work.counted, work.episodes) : work.episodes;
  WriteLine(nlohmann::json{{"pairs", work.pairs.size()},
                           {"episodes", each * work.pairs.size() * work.policies.size()}}
                .dump());
}

void EvaluationLog::WriteGivenUp(const Pair& pair, const std::string& reason) {
  // The reason is what a service said, which may be invalid UTF-8.
  WriteLine(
      nlohmann::json{{"goal", pair.goal}, {"capture", pair.capture}, {"given_up", reason}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void EvaluationLog::Write(const EpisodeAssignment& assignment, const EpisodeResult& result) {
  const EpisodeFacts& facts = result.facts;
  nlohmann::ordered_json line;
  line["policy"] = assignment.policy_name;
  line["goal"] = facts.goal;
  line["capture"] = facts.capture;
  if (!facts.situation.empty()) line["situation"] = facts.situation;
  line["episode"] = assignment.start.episode;
  line["success"] = facts.success;
  line["clean"] = facts.clean;
  line["satisfied_at_start"] = facts.satisfied_at_start;
  line["steps"] = facts.steps;
  line["mutations"] = facts.mutations;
  line["optimum"] = facts.optimum;
  line["status_4xx"] = facts.client_errors;
  line["collateral"] = facts.collateral;
  line["return"] = result.total_reward;
  line["policy_epoch"] = result.policy_epoch;
  line["policy_step"] = result.policy_step;
  if (!facts.open.empty()) line["open"] = facts.open;
  if (facts.exchanged) line["exchanged"] = true;
  if (!facts.text.empty()) line["text"] = facts.text;
  if (!facts.requests.empty()) line["requests"] = facts.requests;
  WriteLine(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void EvaluationLog::WriteLine(const std::string& line) {
  const runtime::MutexLock lock(mutex_);
  file_ << line + "\n" << std::flush;
}

absl::Status EvaluationLog::Close() {
  const runtime::MutexLock lock(mutex_);
  file_.close();
  if (!file_) return runtime::Internal("cannot write " + path_);
  return absl::OkStatus();
}

}  // namespace shoal::actor
