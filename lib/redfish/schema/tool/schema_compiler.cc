// SPDX-License-Identifier: Apache-2.0
// Usage: schema_compiler csdl.tar.xz redfish.schema.zst. Makes the table that data/schema ships.
#include <zstd.h>

#include <fstream>
#include <iostream>
#include <string>

#include "platform/runtime/zstd_frame.h"
#include "redfish/capture/archive.h"
#include "redfish/schema/tool/csdl_compiler.h"

namespace {

using shoal::redfish::Archive;
using shoal::redfish::ArchiveFile;
using shoal::redfish::CsdlCompiler;

absl::Status Compile(const std::string& source, const std::string& target) {
  SHOAL_ASSIGN_OR_RETURN(const Archive archive, shoal::redfish::ReadArchive(source, ".xml"));
  CsdlCompiler compiler;
  for (const ArchiveFile& file : archive.files) {
    SHOAL_RETURN_IF_ERROR(compiler.Add(file.path, file.bytes));
  }
  const std::string table = compiler.Table().dump();
  SHOAL_ASSIGN_OR_RETURN(const std::string packed,
                         shoal::runtime::PackFrame(table, ZSTD_maxCLevel()));
  std::ofstream file(target, std::ios::binary);
  file.write(packed.data(), static_cast<std::streamsize>(packed.size()));
  if (!file.flush()) return shoal::runtime::Unavailable("cannot write " + target);
  std::cout << target << ": " << archive.files.size() << " documents, " << table.size()
            << " bytes, " << packed.size() << " compressed\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: schema_compiler CSDL_ARCHIVE TABLE\n";
    return 2;
  }
  const absl::Status status = Compile(argv[1], argv[2]);
  if (!status.ok()) std::cerr << shoal::runtime::Message(status) << '\n';
  return status.ok() ? 0 : 1;
}
