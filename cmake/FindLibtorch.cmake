# FindLibtorch: finds the C++ half of the torch wheel, without torch's own package files.
#
# In:  LIBTORCH_ROOT  the folder that holds torch/ and nvidia/ side by side (pip install --target);
#                     a variable or the environment; else <source>/.deps
#      SHOAL_CUDA     also define libtorch::nccl (NCCL and the CUDA runtime, no torch_cuda)
#      CUDA_TOOLKIT_ROOT  the folder in which files are looked for that the wheels lack
# Out: Libtorch_FOUND, Libtorch_VERSION, libtorch::cpu, libtorch::nccl
#      Libtorch_cuda_INCLUDE_DIR  headers of CUDA for the few sources that need their types
#      Libtorch_RUNTIME_LIBRARIES  the five files that a program needs on a CPU; in one folder they find each other
#
# Link both PRIVATE: the wheel's include folder carries an old google/protobuf, which must never reach a target that
# compiles generated wire code.

if(NOT LIBTORCH_ROOT)
  if(DEFINED ENV{LIBTORCH_ROOT})
    set(_libtorch_root "$ENV{LIBTORCH_ROOT}")
  else()
    set(_libtorch_root "${CMAKE_SOURCE_DIR}/.deps")
  endif()
  set(LIBTORCH_ROOT "${_libtorch_root}" CACHE PATH "Folder that holds torch/ of the wheel" FORCE)
endif()

set(_libtorch_needed Libtorch_INCLUDE_DIR Libtorch_torch_cpu_LIBRARY Libtorch_c10_LIBRARY Libtorch_cuda_INCLUDE_DIR)
find_path(Libtorch_INCLUDE_DIR NAMES torch/headeronly/version.h
  PATHS "${LIBTORCH_ROOT}/torch/include" NO_DEFAULT_PATH)
find_library(Libtorch_torch_cpu_LIBRARY NAMES torch_cpu
  PATHS "${LIBTORCH_ROOT}/torch/lib" NO_DEFAULT_PATH)
find_library(Libtorch_c10_LIBRARY NAMES c10 PATHS "${LIBTORCH_ROOT}/torch/lib" NO_DEFAULT_PATH)
find_path(Libtorch_cuda_INCLUDE_DIR NAMES cuda_runtime_api.h
  PATHS "${LIBTORCH_ROOT}/nvidia/cu13/include" "${CUDA_TOOLKIT_ROOT}/include" NO_DEFAULT_PATH)

if(Libtorch_INCLUDE_DIR)
  file(READ "${Libtorch_INCLUDE_DIR}/torch/headeronly/version.h" _libtorch_header)
  set(_libtorch_parts "")
  foreach(part MAJOR MINOR PATCH)
    if(_libtorch_header MATCHES "TORCH_VERSION_${part} ([0-9]+)")
      list(APPEND _libtorch_parts "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(JOIN _libtorch_parts "." Libtorch_VERSION)
endif()

if(SHOAL_CUDA)
  list(APPEND _libtorch_needed Libtorch_cudart_LIBRARY Libtorch_nccl_LIBRARY Libtorch_nccl_INCLUDE_DIR)
  find_library(Libtorch_cudart_LIBRARY NAMES libcudart.so.13
    PATHS "${LIBTORCH_ROOT}/nvidia/cu13/lib" "${CUDA_TOOLKIT_ROOT}/lib64" NO_DEFAULT_PATH)
  find_library(Libtorch_nccl_LIBRARY NAMES libnccl.so.2
    PATHS "${LIBTORCH_ROOT}/nvidia/nccl/lib" "${CUDA_TOOLKIT_ROOT}/lib64" NO_DEFAULT_PATH)
  find_path(Libtorch_nccl_INCLUDE_DIR NAMES nccl.h
    PATHS "${LIBTORCH_ROOT}/nvidia/nccl/include" "${CUDA_TOOLKIT_ROOT}/include" NO_DEFAULT_PATH)
endif()

set(Libtorch_RUNTIME_LIBRARIES "${Libtorch_torch_cpu_LIBRARY}" "${Libtorch_c10_LIBRARY}"
  "${LIBTORCH_ROOT}/torch/lib/libgomp.so.1" "${LIBTORCH_ROOT}/nvidia/cu13/lib/libcudart.so.13"
  "${LIBTORCH_ROOT}/nvidia/cu13/lib/libcupti.so.13")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch
  REQUIRED_VARS ${_libtorch_needed} VERSION_VAR Libtorch_VERSION
  REASON_FAILURE_MESSAGE "set LIBTORCH_ROOT to the folder that holds torch/ of the wheel")
mark_as_advanced(${_libtorch_needed})

# _libtorch_import(<name> <library> <include folder>...) defines the imported target libtorch::<name>.
function(_libtorch_import name library)
  add_library(libtorch::${name} SHARED IMPORTED)
  set_target_properties(libtorch::${name} PROPERTIES IMPORTED_LOCATION "${library}")
  target_include_directories(libtorch::${name} SYSTEM INTERFACE ${ARGN})
endfunction()

if(Libtorch_FOUND AND NOT TARGET libtorch::cpu)
  find_package(Threads REQUIRED)
  _libtorch_import(c10 "${Libtorch_c10_LIBRARY}" "${Libtorch_INCLUDE_DIR}")
  _libtorch_import(torch_cpu "${Libtorch_torch_cpu_LIBRARY}" "${Libtorch_INCLUDE_DIR}"
    "${Libtorch_INCLUDE_DIR}/torch/csrc/api/include")
  add_library(libtorch::cpu INTERFACE IMPORTED)
  # The wheel is built with this definition, and it adds members to classes.
  target_compile_definitions(libtorch::cpu INTERFACE USE_DISTRIBUTED)
  target_link_libraries(libtorch::cpu INTERFACE
    libtorch::torch_cpu libtorch::c10 Threads::Threads)
  if(SHOAL_CUDA)
    _libtorch_import(cudart "${Libtorch_cudart_LIBRARY}" "${Libtorch_cuda_INCLUDE_DIR}")
    _libtorch_import(nccl_library "${Libtorch_nccl_LIBRARY}" "${Libtorch_nccl_INCLUDE_DIR}")
    add_library(libtorch::nccl INTERFACE IMPORTED)
    target_link_libraries(libtorch::nccl INTERFACE libtorch::nccl_library libtorch::cudart)
  endif()
endif()
