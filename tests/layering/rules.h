// SPDX-License-Identifier: Apache-2.0
// The include table of this repository as a function of (file, text) that returns what breaks it.
#pragma once

#include <string>
#include <vector>

namespace shoal::layering {

// Returns one sentence for each breach in the source file `path` ("lib/platform/http/server.cc")
// with the contents `text`.
std::vector<std::string> Breaches(const std::string& path, const std::string& text);

// Returns the folders in order: a folder may use those before it.
const std::vector<std::string>& Folders();

}  // namespace shoal::layering
