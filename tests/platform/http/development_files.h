// SPDX-License-Identifier: Apache-2.0
// A development certificate for localhost, 127.0.0.1 and ::1 with its key, removed by the
// destructor.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "platform/http/development_certificate.h"
#include "platform/http/server.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::http {

class DevelopmentFiles {
 public:
  DevelopmentFiles() { REQUIRE(MakeDevelopmentCertificate(certificate, key).ok()); }

  std::string Path(const std::string& name) const { return folder_.At(name); }
  ServerOptions Options() const { return {.certificate_file = certificate, .key_file = key}; }

 private:
  const doubles::TemporaryFolder folder_;

 public:
  const std::string certificate = folder_.At("server.pem");
  const std::string key = folder_.At("server.key");
};

}  // namespace shoal::http
