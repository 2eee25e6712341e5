// SPDX-License-Identifier: Apache-2.0
// Work that waits for a system's next boot: what a client asked for with the apply time OnReset.
//
// Unbounded: who queues by request gives each kind of request one key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// Calls `run` once, when `system` boots next, after what was queued before; forgets an earlier
// entry of the same key. What `run` captures must be values: instances are copied.
void OnNextBoot(Editor& editor, ResourceId system, std::string key,
                std::function<void(Editor&)> run);
void ForgetNextBoot(Editor& editor, std::string_view key);

// Runs the work when its system has booted. What the work itself queues waits for the boot after.
void AddBootQueue(HandlerTable& handlers);

// The system whose boot changes to the resource wait for: the one that the resource, or the
// resource that it holds settings for, is or is below; where that one has no reset action, the
// service's first that has one, else its first.
std::optional<ResourceId> SystemOf(const Editor& editor, ResourceId id);

}  // namespace shoal::mockserver
