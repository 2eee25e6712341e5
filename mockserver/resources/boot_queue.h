// SPDX-License-Identifier: Apache-2.0
// Work that waits for a system's next boot, because a client asked for it with the apply time
// OnReset.
//
// The queue is unbounded: a caller that queues work on a client's request must give each kind of
// request a single key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// Calls `run` once, at the next boot of `system` and after the work that was queued before it. An
// earlier entry with the same key is dropped. `run` must capture values, because instances are
// copied.
void OnNextBoot(Editor& editor, ResourceId system, std::string key,
                std::function<void(Editor&)> run);
void ForgetNextBoot(Editor& editor, std::string_view key);

// Runs the work of a system when it has booted. Work that is queued meanwhile waits for the next
// boot.
void AddBootQueue(HandlerTable& handlers);

// Returns the system whose boot applies changes to the resource: the system that is, or is above,
// the resource or the active resource of a settings object. Where that system has no reset action,
// it is the service's first system that has one, else its first system.
std::optional<ResourceId> SystemOf(const Editor& editor, ResourceId id);

}  // namespace shoal::mockserver
