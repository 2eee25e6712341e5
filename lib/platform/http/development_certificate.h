// SPDX-License-Identifier: Apache-2.0
// A certificate for trying a server out, which its own clients must be told to trust.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::http {

// Makes, when neither file is there, an ECDSA P-256 key and a certificate that it signs itself, as
// PEM: for localhost, 127.0.0.1 and ::1, valid from yesterday for a year. The key's file is
// readable by its owner alone. OK when both are there, whatever is in them; FAILED_PRECONDITION
// naming the files when one is; INTERNAL naming the file that cannot be written.
absl::Status MakeDevelopmentCertificate(const std::string& certificate_file,
                                        const std::string& key_file);

}  // namespace shoal::http
