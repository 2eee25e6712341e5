// SPDX-License-Identifier: Apache-2.0
// BIOS settings (DSP0266, "Settings resource"): what is written to the settings object is pending,
// and becomes the BIOS's when its system boots next.
//
// Attributes are judged by the service's attribute registry with what is pending and what is asked
// for taken as given; where a capture has no registry, by name and JSON type of the present value.
// One vendor's settings object lists what is pending alone, another's all attributes; each stays
// so. Only what was asked for since the last boot is applied, not what else a capture had pending.
#pragma once

#include <string>
#include <vector>

#include "mockserver/editor.h"

namespace shoal::mockserver {

// What is wrong with one attribute, in words of the message registry.
struct AttributeProblem {
  std::string name;
  std::string_view message;
};

// Whether PATCH of "Attributes" of this resource is a matter of settings: it is a BIOS or a BIOS's
// settings object.
bool HasBiosAttributes(const Editor& editor, ResourceId id);

// Judges `attributes`, an object, for the resource. All of the BIOS itself are not writable where
// it has a settings object.
std::vector<AttributeProblem> JudgeAttributes(const Editor& editor, ResourceId id,
                                              const Json& attributes);

// `attribute` was written to a settings object and waits for the next boot.
void AwaitBoot(Editor& editor, ResourceId settings, const std::string& attribute);

// The system boots: what is pending becomes current, and the BIOS's @Redfish.Settings says when.
void ApplySettings(Editor& editor, ResourceId system);

}  // namespace shoal::mockserver
