# Finds the libclang C API, 17 or newer (clang_getCursorBinaryOperatorKind):
# target LibClang::LibClang, LIBCLANG_VERSION. LIBCLANG_ROOT chooses a prefix,
# for example /usr/lib/llvm-19.
set(_prefixes ${LIBCLANG_ROOT})
foreach(_v RANGE 17 40)
    list(INSERT _prefixes 0 /usr/lib/llvm-${_v})
endforeach()
if(LIBCLANG_ROOT)
    set(_prefixes ${LIBCLANG_ROOT})
endif()
find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h
    PATHS ${_prefixes} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h)
get_filename_component(_root "${LIBCLANG_INCLUDE_DIR}" DIRECTORY)
find_library(LIBCLANG_LIBRARY NAMES clang
    PATHS ${_root}/lib NO_DEFAULT_PATH)
find_library(LIBCLANG_LIBRARY NAMES clang)
if(LIBCLANG_INCLUDE_DIR)
    file(STRINGS ${LIBCLANG_INCLUDE_DIR}/clang-c/Index.h _minor
        REGEX "#define CINDEX_VERSION_MINOR")
    string(REGEX REPLACE ".* ([0-9]+)$" "\\1" LIBCLANG_CINDEX_MINOR "${_minor}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibClang
    REQUIRED_VARS LIBCLANG_LIBRARY LIBCLANG_INCLUDE_DIR)
if(LibClang_FOUND AND LIBCLANG_CINDEX_MINOR LESS 64)
    message(FATAL_ERROR "libclang in ${_root} is older than 17")
endif()
if(LibClang_FOUND AND NOT TARGET LibClang::LibClang)
    add_library(LibClang::LibClang UNKNOWN IMPORTED)
    set_target_properties(LibClang::LibClang PROPERTIES
        IMPORTED_LOCATION ${LIBCLANG_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${LIBCLANG_INCLUDE_DIR})
endif()
