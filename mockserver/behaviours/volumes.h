// SPDX-License-Identifier: Apache-2.0
// Volumes of a storage subsystem: made of drives, and deleted, as tasks (tasks.h).
//
//   POST <Storage>/Volumes
//   {"RAIDType": "RAID1", "Links": {"Drives": [{"@odata.id": D0}, {"@odata.id": D1}]},
//    "CapacityBytes"?, "Name"?, "@Redfish.OperationApplyTime"?, what the schema takes else}
//
// The older "VolumeType" and "Drives" are taken as well. 400 for a RAID type that no controller
// lists (where one lists any), that does not go with so many drives, or for a drive that is none or
// another subsystem's; 409 ResourceInUse for a drive that is part of a volume already, also when
// another task was faster. Without CapacityBytes the volume takes all there is.
//
// A raw device, a volume that is one drive's own face, does not occupy its drive, and is not
// deleted (405).
//
// Deleting has no body as a rule: it waits for a boot where the collection supports OnReset alone.
// Volume.Initialize and Volume.CheckConsistency are tasks that leave nothing behind.
//
// Drive.SecureErase is a task after which the volumes that the drive was part of are gone.
// Storage.ResetToDefaults with ResetAll removes all volumes, raw devices excepted, and gives the
// subsystem's properties back what was captured; with PreserveVolumes it does the latter alone.
// Storage.SetEncryptionKey sets EncryptionMode to UseLocalKey; the key is not kept.
//
// "Exactly one RAID1 volume on D0 and D1" is a predicate over the collection: {"some": {"members":
// U, "holds": RAIDType equals RAID1, Links/Drives contains both}}, and {"not": {"some":
// ..RAID0..}}.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddVolumes(HandlerTable& handlers);

}  // namespace shoal::mockserver
