# Functions that make our targets: shoal_library, shoal_program, shoal_bench, shoal_test; one set of flags for all.

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

# Where installed programs look for libtorch.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")

add_link_options(-fuse-ld=lld)
# fuzzer-no-link in it instruments every object for libFuzzer, whose main comes with the fuzzers alone.
if(SHOAL_SANITIZE)
  add_compile_options(-fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHOAL_SANITIZE})
  # What AddressSanitizer traps by itself, and two checks of types: a quarter of the time to compile.
  if(SHOAL_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr,function)
  endif()
endif()

# Own code: every warning is an error. Generated code is compiled apart, without this. clang warns of other things than
# g++, and there only what its thread-safety analysis finds is an error.
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

# Precompiled headers are shared, by programs too, so all are compiled alike; without the last option ccache could not keep
# what uses them.
target_compile_options(shoal_own_code INTERFACE -fPIC -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(shoal_own_code INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
else()
  # g++ 12 takes its library's own strings for overflows (GCC bug 105651 and others), also in headers of the system once
  # they are precompiled. Compiled together, a source with a class of its own is taken for a header.
  target_compile_options(shoal_own_code INTERFACE
    -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-subobject-linkage)
endif()

# shoal_headers(<kind> HEADERS ... [LIBRARIES ...]): shoal_headers_<kind>, what many sources include, compiled once. A
# source still includes what it uses.
function(shoal_headers kind)
  cmake_parse_arguments(arg "" "" "HEADERS;LIBRARIES" ${ARGN})
  set(name shoal_headers_${kind})
  set(source "${CMAKE_BINARY_DIR}/gen/headers/${kind}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE shoal_own_code ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# Of libraries and programs: with gRPC's headers where it is linked.
function(shoal_reuse_headers name)
  if("shoal_transport" IN_LIST ARGN OR "shoal_proto" IN_LIST ARGN)
    target_precompile_headers(${name} REUSE_FROM shoal_headers_grpc)
  else()
    target_precompile_headers(${name} REUSE_FROM shoal_headers_plain)
  endif()
endfunction()

# toml++ from headers alone: Debian's library is built with exceptions, and ours takes a parse error as a value.
function(shoal_toml)
  find_path(TOML_INCLUDE_DIR toml++/toml.h REQUIRED)
  add_library(shoal_toml INTERFACE)
  target_include_directories(shoal_toml SYSTEM INTERFACE "${TOML_INCLUDE_DIR}")
  target_compile_definitions(shoal_toml INTERFACE TOML_EXCEPTIONS=0 TOML_HEADER_ONLY=1)
endfunction()

# shoal_library(<folder> SOURCES ... [PUBLIC libs] [PRIVATE libs])
# Makes shoal_<folder>. PUBLIC: what the headers include; PRIVATE: what only the sources do.
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

# Everything that runs, without tests and benches; the benches, which only `benches` builds.
add_custom_target(programs)
add_custom_target(benches)

# shoal_executable(<name> SOURCES ... LIBRARIES ...): build/bin/<name>.
function(shoal_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE shoal_own_code ${arg_LIBRARIES})
  shoal_reuse_headers(${name} ${arg_LIBRARIES})
endfunction()

# shoal_program(<name> SOURCES ... LIBRARIES ...): build/bin/<name>, which is installed.
function(shoal_program name)
  shoal_executable(${name} ${ARGN})
  add_dependencies(programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# shoal_bench(<name> SOURCES ... LIBRARIES ...): build/bin/<name>.
function(shoal_bench name)
  shoal_executable(${name} ${ARGN})
  add_dependencies(benches ${name})
endfunction()

# shoal_allocator(<program>): jemalloc in place of the C library's malloc, which sanitizers replace by their own.
function(shoal_allocator name)
  if(NOT SHOAL_SANITIZE)
    target_link_libraries(${name} PRIVATE PkgConfig::jemalloc)
  endif()
endfunction()

# How tests are compiled: most of their code is generated code that runs once, so little time goes into making it fast.
add_library(shoal_test_code INTERFACE)
if(SHOAL_SANITIZE)
  target_compile_options(shoal_test_code INTERFACE -O0)
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(shoal_test_code INTERFACE -O1)
endif()

# All test programs but the system tests; those of them that start threads.
add_custom_target(unit_tests)
add_custom_target(threaded_tests)

# shoal_test(<folder> SOURCES ... LIBRARIES ... [LABELS ...] [TIMEOUT s] [SINGLE_THREADED]): one test program a folder,
# or two where some of it starts no threads.
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
  endif()
  add_test(NAME ${folder} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${folder} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "unit;${arg_LABELS}")
endfunction()
