// SPDX-License-Identifier: Apache-2.0
// The tables of a run's report, as HTML, from its result.json (evaluation.h, ToJson).
//
// What result.json may lack is left out. A member of another type than expected throws a
// nlohmann::json::exception.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace shoal::cli {

// Success of the learned policy, under a heading: a row a goal, a column a capture under its
// vendor, which is the first word of the capture's name. The policies' returns where there are no
// goals; a sentence when there was no final evaluation.
std::string SuccessHtml(const nlohmann::json& result);

// Each policy over all pairs; empty without an evaluation.
std::string PolicyHtml(const nlohmann::json& result);

// Each pair under each policy; empty without an evaluation.
std::string PairHtml(const nlohmann::json& result);

}  // namespace shoal::cli
