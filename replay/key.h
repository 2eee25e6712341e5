// SPDX-License-Identifier: Apache-2.0
// The 16-byte name of a content, catalog or overlay. The zero key means no content: it is never
// stored and never missing.
#pragma once

#include "platform/content/content_key.h"

namespace shoal::replay {

using Key = content::ContentKey;
using KeyHash = content::ContentKeyHash;

}  // namespace shoal::replay
