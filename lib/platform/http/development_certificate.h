// SPDX-License-Identifier: Apache-2.0
// Makes a self-signed certificate for trying a server out; clients must be told to trust it.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::http {

// Makes, when neither file exists, an ECDSA P-256 key and a self-signed certificate, as PEM, for
// localhost, 127.0.0.1 and ::1, valid from yesterday for a year. Only its owner can read the key's
// file. Returns OK when both files exist already, whatever they hold; FAILED_PRECONDITION naming
// the files when only one exists; INTERNAL naming the file that cannot be written.
absl::Status MakeDevelopmentCertificate(const std::string& certificate_file,
                                        const std::string& key_file);

}  // namespace shoal::http
