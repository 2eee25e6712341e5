// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/network_adapter.h"

#include <string>

#include "mockserver/resources/captured_state.h"

namespace shoal::mockserver {
namespace {

Response ResetSettings(Editor& editor, const Call& call) {
  const std::string uri = editor.Uri(call.resource);
  RestoreCaptured(editor, uri);
  return Done(editor);
}

}  // namespace

void AddNetworkAdapter(HandlerTable& handlers) {
  handlers.OnAction("NetworkAdapter.ResetSettingsToDefault", &ResetSettings);
}

}  // namespace shoal::mockserver
