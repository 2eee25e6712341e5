# Functions that make our targets with one set of flags: shoal_library, shoal_program, shoal_bench, shoal_test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

# Installed programs look for libtorch here.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")

add_link_options(-fuse-ld=lld)
# A SHOAL_SANITIZE with fuzzer-no-link instruments every object for libFuzzer; only the fuzzers link its main.
if(SHOAL_SANITIZE)
  add_compile_options(-fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHOAL_SANITIZE})
  # These checks are left out, which saves a quarter of the compile time: AddressSanitizer traps the first ones by
  # itself, and the others check types.
  if(SHOAL_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr,function)
  endif()
endif()

# Every warning in our own code is an error. Generated code is compiled apart, without this target. clang warns of other
# things than g++, so with clang only the findings of its thread-safety analysis are errors.
add_library(shoal_own_code INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(shoal_own_code INTERFACE -Wthread-safety -Werror=thread-safety)
else()
  target_compile_options(shoal_own_code INTERFACE -Wall -Wextra -Wconversion)
  if(NOT SHOAL_SANITIZE)
    target_compile_options(shoal_own_code INTERFACE -Werror)
  endif()
endif()
target_include_directories(shoal_own_code INTERFACE
  "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/lib")

# Libraries and programs share precompiled headers, so all are compiled with the same options. Without
# -fno-pch-timestamp and -fpch-preprocess, ccache could not cache the sources that use them.
target_compile_options(shoal_own_code INTERFACE -fPIC -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(shoal_own_code INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
else()
  # g++ 12 takes its library's own strings for overflows (GCC bug 105651 and others), also in system headers once they
  # are precompiled. In a unity build it warns of a source's own class as if the source were a header.
  target_compile_options(shoal_own_code INTERFACE
    -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-subobject-linkage)
endif()

# shoal_headers(<kind> HEADERS ... [LIBRARIES ...]) makes shoal_headers_<kind>: the headers that many sources include,
# precompiled once. A source still includes what it uses.
function(shoal_headers kind)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES" ${ARGN})
  set(name shoal_headers_${kind})
  set(source "${CMAKE_BINARY_DIR}/gen/headers/${kind}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE shoal_own_code ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# Lets a library or program use the precompiled headers, with gRPC's where it links gRPC.
function(shoal_reuse_headers name)
  if("shoal_transport" IN_LIST ARGN OR "shoal_proto" IN_LIST ARGN)
    target_precompile_headers(${name} REUSE_FROM shoal_headers_grpc)
  else()
    target_precompile_headers(${name} REUSE_FROM shoal_headers_plain)
  endif()
endfunction()

# toml++ is used from headers alone: Debian's library is built with exceptions, and our code takes a parse error as a
# value.
function(shoal_toml)
  find_path(TOML_INCLUDE_DIR toml++/toml.h REQUIRED)
  add_library(shoal_toml INTERFACE)
  target_include_directories(shoal_toml SYSTEM INTERFACE "${TOML_INCLUDE_DIR}")
  target_compile_definitions(shoal_toml INTERFACE TOML_EXCEPTIONS=0 TOML_HEADER_ONLY=1)
endfunction()

# METIS and Scotch come without files for CMake or pkg-config.
function(shoal_partitioners)
  find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
  find_library(METIS_LIBRARY metis REQUIRED)
  find_path(SCOTCH_INCLUDE_DIR scotch/scotch.h REQUIRED)
  find_library(SCOTCH_LIBRARY scotch REQUIRED)
  find_library(SCOTCH_ERROR_LIBRARY scotcherr REQUIRED)
  add_library(shoal_partitioners INTERFACE)
  target_include_directories(shoal_partitioners SYSTEM INTERFACE "${METIS_INCLUDE_DIR}" "${SCOTCH_INCLUDE_DIR}")
  target_link_libraries(shoal_partitioners INTERFACE
    "${METIS_LIBRARY}" "${SCOTCH_LIBRARY}" "${SCOTCH_ERROR_LIBRARY}")
endfunction()

# shoal_library(<folder> SOURCES ... [PUBLIC libs] [PRIVATE libs]) makes shoal_<folder>. PUBLIC are the libraries whose
# headers its headers include, PRIVATE those that only its sources use.
function(shoal_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(name shoal_${folder})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE shoal_own_code ${arg_PRIVATE})
    shoal_reuse_headers(${name} ${arg_PUBLIC} ${arg_PRIVATE})
    target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/lib")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${arg_PUBLIC} ${arg_PRIVATE})
    target_include_directories(${name} INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/lib")
  endif()
endfunction()

# `programs` builds everything that runs, without tests and benches; only `benches` builds the benches.
add_custom_target(programs)
add_custom_target(benches)

# shoal_executable(<name> SOURCES ... LIBRARIES ...) makes build/bin/<name>.
function(shoal_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE shoal_own_code ${arg_LIBRARIES})
  shoal_reuse_headers(${name} ${arg_LIBRARIES})
endfunction()

# shoal_program(<name> SOURCES ... LIBRARIES ...) makes build/bin/<name>, which is installed.
function(shoal_program name)
  shoal_executable(${name} ${ARGN})
  add_dependencies(programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# shoal_bench(<name> SOURCES ... LIBRARIES ...) makes build/bin/<name>, which `benches` builds.
function(shoal_bench name)
  shoal_executable(${name} ${ARGN})
  add_dependencies(benches ${name})
endfunction()

# shoal_allocator(<program>) uses jemalloc in place of the C library's malloc. Sanitizers use their own malloc.
function(shoal_allocator name)
  if(NOT SHOAL_SANITIZE)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/lib/platform/runtime/jemalloc_options.cc")
    target_link_libraries(${name} PRIVATE PkgConfig::jemalloc)
  endif()
endfunction()

# Compile options of tests: most of their code is generated and runs once, so little time is spent on optimising it.
add_library(shoal_test_code INTERFACE)
if(SHOAL_SANITIZE)
  target_compile_options(shoal_test_code INTERFACE -O0)
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(shoal_test_code INTERFACE -O1)
endif()

# `unit_tests` builds all test programs except the system tests, `threaded_tests` those of them that start threads.
add_custom_target(unit_tests)
add_custom_target(threaded_tests)

# shoal_test(<folder> SOURCES ... LIBRARIES ... [LABELS ...] [TIMEOUT s] [SINGLE_THREADED]) makes one test program.
# SINGLE_THREADED says that it starts no threads; a folder with tests of both kinds has two programs.
function(shoal_test folder)
  cmake_parse_arguments(arg "SINGLE_THREADED" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  set(name ${folder}_test)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE shoal_own_code shoal_test_code shoal_catch_main ${arg_LIBRARIES})
  target_precompile_headers(${name} REUSE_FROM shoal_headers_test)
  add_dependencies(unit_tests ${name})
  if(NOT arg_SINGLE_THREADED)
    add_dependencies(threaded_tests ${name})
    list(APPEND arg_LABELS threads)
  endif()
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
    if(SHOAL_SANITIZE)
      set(arg_TIMEOUT 1200)
    endif()
  endif()
  add_test(NAME ${folder} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${folder} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "unit;${arg_LABELS}")
endfunction()
