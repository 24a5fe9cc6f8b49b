# SPDX-License-Identifier: MIT
# Flags of all C and C++ code, the tests included, and of the host side of GPU code. The tests machine-code and hardening
# look at the files that result.
#
# - No MMX registers: gcc 12 moves 64 bits through them where it runs out of others and does not clear them. The caller's
#   next `long double` is then NaN.
# - FLYNN_HARDENING: no writable function pointers of the loader's (full RELRO), a checked return address
#   (-fstack-protector-strong, and a shadow stack where the processor and the C library have one), checked sizes in the C
#   library's functions (_FORTIFY_SOURCE). Sanitizers check the same and more, and do not understand _FORTIFY_SOURCE.
#
# A target whose property FLYNN_NO_CET is on has no -fcf-protection: part of its code is not made for it.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

option(FLYNN_HARDENING "Harden the machine code: RELRO, stack protector, _FORTIFY_SOURCE, CET" ON)

# flynn_code_flag(<name> <flag>): adds the flag to flynn_code_flags if the compilers for C and C++ know it, and sets
# FLYNN_HAVE_<name>.
macro(flynn_code_flag name flag)
    check_c_compiler_flag(${flag} FLYNN_HAVE_${name})
    check_cxx_compiler_flag(${flag} FLYNN_HAVE_${name}_CXX)
    if(FLYNN_HAVE_${name} AND FLYNN_HAVE_${name}_CXX)
        list(APPEND flynn_code_flags ${flag})
    endif()
endmacro()

set(flynn_code_flags)
set(flynn_cet)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    flynn_code_flag(NO_MMX -mno-mmx)
endif()
if(FLYNN_HARDENING)
    flynn_code_flag(STACK_PROTECTOR -fstack-protector-strong)
    # The level that this compiler and C library have. It needs optimization.
    set(FLYNN_FORTIFY 2)
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("
        #include <string.h>
        #if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL < 3
        #error
        #endif
        int main(void) { return 0; }" FLYNN_HAVE_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    if(FLYNN_HAVE_FORTIFY_3)
        set(FLYNN_FORTIFY 3)
    endif()
    if("${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=")
        set(FLYNN_FORTIFY 0)
    endif()
    if(FLYNN_FORTIFY)
        set(flynn_fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${FLYNN_FORTIFY})
        add_compile_options(
            "$<$<AND:$<COMPILE_LANGUAGE:C,CXX,CUDA>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:${flynn_fortify}>")
    endif()
    add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        check_c_compiler_flag(-fcf-protection=full FLYNN_HAVE_CET)
        check_linker_flag(C LINKER:-z,shstk FLYNN_HAVE_SHADOW_STACK)
    endif()
    # The linker marks a file for IBT if all of its objects are, those of the C library included, which on Debian 12 are
    # not. They do work with a shadow stack.
    set(cet "$<NOT:$<BOOL:$<TARGET_PROPERTY:FLYNN_NO_CET>>>")
    if(FLYNN_HAVE_CET)
        set(flynn_cet -fcf-protection=full)
        add_compile_options("$<$<AND:${cet},$<COMPILE_LANGUAGE:C,CXX>>:${flynn_cet}>")
        if(FLYNN_HAVE_SHADOW_STACK)
            add_link_options("$<${cet}:LINKER:-z,shstk>")
        endif()
    endif()
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flynn_code_flags}>")
if(flynn_code_flags)
    list(JOIN flynn_code_flags "," flags)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flags}>")
endif()

# Whether the test can find all of it: in a release build with gcc's or clang's flags.
set(FLYNN_HARDENED OFF)
if(FLYNN_HARDENING AND FLYNN_FORTIFY AND FLYNN_HAVE_STACK_PROTECTOR
   AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
    set(FLYNN_HARDENED ON)
endif()

# For hipcc, whose host compiler is clang: each flag for the host alone.
set(FLYNN_HIPCC_HOST_FLAGS)
foreach(flag IN LISTS flynn_code_flags flynn_cet flynn_fortify)
    list(APPEND FLYNN_HIPCC_HOST_FLAGS -Xarch_host ${flag})
endforeach()
