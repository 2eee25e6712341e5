// SPDX-License-Identifier: Apache-2.0
// The tables of a run's report as HTML, made from its result.json (evaluation.h, ToJson).
//
// What result.json lacks is left out. A member of another type than expected throws a
// nlohmann::json::exception.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace shoal::cli {

// Success of the learned policy under a heading: a row for each goal and a column for each capture.
// Columns are grouped by vendor, the first word of the capture's name. Without goals the table
// shows the policies' returns, and without a final evaluation there is a sentence instead.
std::string SuccessHtml(const nlohmann::json& result);

// Each policy over all pairs. Empty without an evaluation.
std::string PolicyHtml(const nlohmann::json& result);

// What the learned policy's failed episodes left open, the most frequent first. Empty when they
// left nothing.
std::string OpenHtml(const nlohmann::json& result);

// Each pair under each policy. Empty without an evaluation.
std::string PairHtml(const nlohmann::json& result);

}  // namespace shoal::cli
