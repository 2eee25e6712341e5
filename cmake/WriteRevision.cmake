# Writes the header that names the revision of the source tree: git's, or else that of SHOAL_REVISION in the
# environment, or else "unknown".
#   cmake -DSOURCE=<tree> -DOUTPUT=<header> -P WriteRevision.cmake
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(failed 1)
if(Git_FOUND)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=12
    WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
endif()
if(failed)
  set(revision "$ENV{SHOAL_REVISION}")
  if(NOT revision MATCHES "^[A-Za-z0-9._-]+$")
    set(revision "unknown")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"// SPDX-License-Identifier: Apache-2.0
// The revision this build was made from.
#pragma once
namespace shoal::runtime {
inline constexpr const char* kRevision = \"@revision@\";
}
" @ONLY)
