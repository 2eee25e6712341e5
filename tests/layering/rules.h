// SPDX-License-Identifier: Apache-2.0
// The include table of the house, as a function of (file, text): what breaks it.
#pragma once

#include <string>
#include <vector>

namespace shoal::layering {

// One sentence for each breach in the source file `path` ("lib/platform/http/server.cc") that holds
// `text`.
std::vector<std::string> Breaches(const std::string& path, const std::string& text);

// Folders in order: a folder may use those before it.
const std::vector<std::string>& Folders();

}  // namespace shoal::layering
