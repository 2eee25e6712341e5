// SPDX-License-Identifier: Apache-2.0
#include "cli/session/evaluation_schedule.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::cli {

EvaluationSchedule::EvaluationSchedule(Options options)
    : options_(std::move(options)),
      kept_(std::max<std::int64_t>(1, options_.retained - options_.retained / 4)),
      next_(MultipleAbove(options_.judged)) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(options_.learner_log, missing);
  if (!missing) read_bytes_ = static_cast<std::int64_t>(size);
}

void EvaluationSchedule::Count(double unix_seconds, double environment_steps) {
  earlier_ = std::exchange(now_, {unix_seconds, environment_steps});
  std::ifstream log(options_.learner_log);
  log.seekg(read_bytes_);
  for (std::string line; std::getline(log, line) && !log.eof() && Hear(line);) {
    read_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
  }
}

bool EvaluationSchedule::Hear(std::string_view line) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto number = [&object](const char* name) {
    const auto found = object.find(name);
    const double value = found != object.end() && found->is_number() ? found->get<double>() : -1;
    return std::clamp(value, -1.0, 1e15);
  };
  // There are lines of cloning and of the circuit breaker, too.
  if (!object.is_object() || number("epoch") < 0 || number("step") < 0) return true;
  const double published = number("unix_seconds");
  if (published > now_.unix_seconds) return false;
  const parameters::Version version = {static_cast<std::uint64_t>(number("epoch")),
                                       static_cast<std::uint64_t>(number("step"))};
  // Not every update is published.
  if (version == newest_) return true;
  newest_ = version;
  ++publications_;
  const double steps = StepsAt(published);
  if (steps < next_) return true;
  const auto multiple = static_cast<std::int64_t>(std::floor(steps / options_.every));
  waiting_.push_back({{version, steps, multiple}, publications_ - 1});
  ForgetOldest();
  return true;
}

void EvaluationSchedule::ForgetOldest() {
  while (publications_ - waiting_.front().before > kept_) {
    const PublishedVersion gone = waiting_.front().published;
    waiting_.pop_front();
    const double next = MultipleAbove(gone.environment_steps);
    if (waiting_.front().published.environment_steps < next) continue;
    spdlog::warn("event=evaluation_skipped version={} environment_steps={:.0f} retained={}",
                 parameters::ToString(gone.version), gone.environment_steps, options_.retained);
  }
}

double EvaluationSchedule::StepsAt(double unix_seconds) const {
  const double passed = now_.unix_seconds - earlier_.unix_seconds;
  if (passed <= 0) return now_.environment_steps;
  const double share = std::clamp((unix_seconds - earlier_.unix_seconds) / passed, 0.0, 1.0);
  return std::round(earlier_.environment_steps +
                    share * (now_.environment_steps - earlier_.environment_steps));
}

double EvaluationSchedule::MultipleAbove(double steps) const {
  return (std::floor(steps / options_.every) + 1) * options_.every;
}

void EvaluationSchedule::PassMultipleOf(const PublishedVersion& taken) {
  next_ = MultipleAbove(taken.environment_steps);
  while (!waiting_.empty() && waiting_.front().published.environment_steps < next_) {
    waiting_.pop_front();
  }
}

std::vector<PublishedVersion> EvaluationSchedule::Take() {
  std::vector<PublishedVersion> taken;
  const auto group = [this](const PublishedVersion& one) { return one.multiple / options_.group; };
  while (!waiting_.empty() &&
         (taken.empty() || group(waiting_.front().published) == group(taken.front()))) {
    taken.push_back(waiting_.front().published);
    PassMultipleOf(taken.back());
  }
  return taken;
}

std::optional<PublishedVersion> EvaluationSchedule::TakeNewest() {
  if (waiting_.empty()) return std::nullopt;
  const PublishedVersion newest = waiting_.back().published;
  PassMultipleOf(newest);
  return newest;
}

std::int64_t EvaluationSchedule::due() const {
  std::int64_t multiples = 0;
  double next = next_;
  for (const Waiting& waiting : waiting_) {
    if (waiting.published.environment_steps < next) continue;
    ++multiples;
    next = MultipleAbove(waiting.published.environment_steps);
  }
  return multiples;
}

}  // namespace shoal::cli
