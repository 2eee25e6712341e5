// SPDX-License-Identifier: Apache-2.0
// What a person may type after a run: the commands that start its mock server again and reach a
// goal there by `shoal do`.
#pragma once

#include <string>

namespace shoal::cli {

struct SuggestionOptions {
  // The run's folder, with its configuration and its final evaluation.
  std::string run;
  // The folder of the programs.
  std::string programs;
  // The "host:port" of the mock server in the run's configuration.
  std::string mockserver;
  // The name of the capture that this server serves as plain /redfish/v1.
  std::string capture;
};

// Returns lines with the commands. The sentence is one that the learned policy carried out on the
// capture, of those the one that needs most requests. Returns an empty text when there is none that
// a shell takes as it is.
std::string SuggestOperation(const SuggestionOptions& options);

}  // namespace shoal::cli
