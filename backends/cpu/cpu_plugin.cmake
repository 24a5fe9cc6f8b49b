# SPDX-License-Identifier: MIT
# Builds plugins from the sources of this folder; the plugins differ in their flags.

include_guard(DIRECTORY)
include(CheckCSourceCompiles)

check_c_source_compiles("
    int main(void)
    {
        return __builtin_cpu_supports(\"x86-64-v2\") + __builtin_cpu_supports(\"x86-64-v3\")
            + __builtin_cpu_supports(\"x86-64-v4\");
    }" FLYNN_HAVE_X86_64_LEVELS)

set(CMAKE_REQUIRED_FLAGS -march=armv8.2-a+sve)
check_c_source_compiles("
    #include <sys/auxv.h>
    int main(void)
    {
        return __ARM_FEATURE_SVE - 1 + (getauxval(AT_HWCAP) & HWCAP_SVE && 0);
    }" FLYNN_HAVE_ARM_SVE)
unset(CMAKE_REQUIRED_FLAGS)

# glibc's vector math library. Its headers declare it only with -ffast-math, so the sources declare it.
set(CMAKE_REQUIRED_FLAGS "-O2 -fopenmp-simd -fno-math-errno -Werror") # clang ignores the attribute with a warning
set(CMAKE_REQUIRED_LIBRARIES m)
check_c_source_compiles("
    #include <math.h>
    extern float logf(float) __attribute__((simd(\"notinbranch\")));
    extern double log(double) __attribute__((simd(\"notinbranch\")));
    int main(int argc, char **argv)
    {
        float x[1000];
        double y[1000];
    #pragma omp simd
        for (int i = 0; i < 1000; i++)
            x[i] = logf(argc + i), y[i] = log(argc + i);
        (void)argv;
        return (int)(x[argc] + y[argc]);
    }" FLYNN_HAVE_VECTOR_LOG)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LIBRARIES)

# ISA_FLAGS of `simd` and `omp`, which share compiled functions of the user's in the cache.
set(FLYNN_VECTOR_FLAGS -O3 -fopenmp-simd -ffp-contract=fast -fno-math-errno)

# The operations for one instruction set: _flynn_cpu_table(<plugin> <isa> <vector bits> <flag of the set>...); `flags`, `any`: see below
function(_flynn_cpu_table plugin isa bits)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/*.c)
    list(REMOVE_ITEM sources ${any} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/host_svd.c # for GPUs
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/team.c)
    if(arg_LOOPS_OF)
        list(REMOVE_ITEM sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/reduce_loops.c)
    endif()
    add_library(${plugin}-${isa} OBJECT ${sources})
    set(user_flags ${arg_ISA_FLAGS} ${ARGN}) # of a user's function
    list(JOIN user_flags "\", \"" user_flags)
    target_compile_definitions(${plugin}-${isa} PRIVATE CPU_ISA=${isa} CPU_VECTOR_BITS=${bits} "CPU_FLAGS=\"${user_flags}\"")
    target_compile_options(${plugin}-${isa} PRIVATE ${flags} ${ARGN})
    # Contraction would change which numbers are close, and the edges of bins. The compiler makes vectors of histogram's
    # comparisons if it need not think of traps, which nobody sets.
    set_source_files_properties(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/allclose.c PROPERTIES
        COMPILE_OPTIONS -ffp-contract=off)
    set_source_files_properties(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/histogram.c PROPERTIES
        COMPILE_OPTIONS "-ffp-contract=off;-fno-trapping-math")
    target_link_libraries(${plugin}-${isa} PRIVATE flynn_headers flynn_warnings)
endfunction()

# flynn_add_cpu_plugin(<name> CLASS <class> SCORE <score> [LEVELS] [LOOPS_OF <plugin>] [FLAGS <flag>...] [ISA_FLAGS <flag>...])
#   CLASS, SCORE: as for flynn_describe_plugin
#   FLAGS: for all files;  ISA_FLAGS: for the operations, and for functions of the user's
#   LEVELS: builds the operations for x86-64-v2, v3 and v4, or on Arm for NEON and SVE, from which `open` chooses.
#           Without LEVELS, or if the compiler cannot, builds them for the baseline
#   LOOPS_OF: a plugin with the same ISA_FLAGS, whose reduce_loops.c is taken: it has no threads, and takes long to compile
function(flynn_add_cpu_plugin name)
    find_package(Threads REQUIRED)
    cmake_parse_arguments(PARSE_ARGV 1 arg LEVELS "CLASS;SCORE;LOOPS_OF" "FLAGS;ISA_FLAGS")
    # Files for any instruction set: they run before one is chosen, or call libraries. The others are operations.
    set(any device.c blas.c lapack.c fftw.c highway.c primesieve.c compile.c)
    list(TRANSFORM any PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/)
    # A short loop that lies across two of the processor's fetch blocks is slower by up to a fifth (the sieve of omp),
    # and any flag, such as one of FlynnMachineCode.cmake, moves it there.
    set(flags ${arg_FLAGS} ${arg_ISA_FLAGS} -fno-lto -falign-loops=32)
    list(REMOVE_DUPLICATES flags)
    if(CMAKE_C_COMPILER_ID MATCHES Clang)
        list(APPEND flags -Wno-pass-failed) # a loop that this compiler does not vectorize is slower, not wrong
    endif()

    if(arg_LEVELS AND FLYNN_HAVE_X86_64_LEVELS)
        set(isas v2 v3 v4)
        _flynn_cpu_table(${name} v2 128 -march=x86-64-v2)
        _flynn_cpu_table(${name} v3 256 -march=x86-64-v3)
        _flynn_cpu_table(${name} v4 512 -march=x86-64-v4 -mprefer-vector-width=512)
        set(levels ", for x86-64-v2, v3 and v4")
        set(choice CPU_LEVELS)
    elseif(arg_LEVELS AND FLYNN_HAVE_ARM_SVE)
        set(isas neon sve)
        _flynn_cpu_table(${name} neon 128)
        # The compiler's loops have the processor's vector length; 128 bits are those of the sources' own vectors.
        _flynn_cpu_table(${name} sve 128 -march=armv8.2-a+sve)
        set(levels ", for NEON and SVE")
        set(choice CPU_ARM_LEVELS)
    else()
        set(isas base)
        if(arg_LEVELS)
            _flynn_cpu_table(${name} base 128)
        else()
            _flynn_cpu_table(${name} base 64)
        endif()
        set(levels "")
    endif()

    # What a function of the user's sees before its own text.
    flynn_embed_preludes(preludes shared/code_numbers shared/endings shared/map_math cpu/map_prelude
        cpu/endings_prelude cpu/lanes_prelude cpu/oracle_prelude)

    list(JOIN flags " " flags_text)
    set(objects ${isas})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:${name}-\\1>")
    if(arg_LOOPS_OF)
        foreach(isa IN LISTS isas)
            list(APPEND objects $<FILTER:$<TARGET_OBJECTS:${arg_LOOPS_OF}-${isa}>,INCLUDE,/reduce_loops[.]c>)
        endforeach()
    endif()
    flynn_add_plugin(${name} ${any} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../shared/library.c
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../shared/compiler.c
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../shared/process.c
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../shared/processor.c
        ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../shared/threads.c ${preludes} ${objects})
    target_compile_options(plugin-${name} PRIVATE ${arg_FLAGS})
    target_link_options(plugin-${name} PRIVATE ${arg_FLAGS})
    target_link_libraries(plugin-${name} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
    target_link_libraries(plugin-${name} PRIVATE m)
    if("-fopenmp" IN_LIST flags AND CMAKE_C_COMPILER_ID STREQUAL GNU)
        target_sources(plugin-${name} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/team.c)
        target_link_options(plugin-${name} PRIVATE -Wl,--wrap=GOMP_parallel -Wl,--wrap=GOMP_loop_end_nowait
            -Wl,--wrap=GOMP_loop_nonmonotonic_dynamic_start -Wl,--wrap=GOMP_loop_nonmonotonic_dynamic_next)
    endif()
    if(FLYNN_HAVE_VECTOR_LOG)
        foreach(isa IN LISTS isas)
            target_compile_definitions(${name}-${isa} PRIVATE CPU_VECTOR_LOG)
        endforeach()
    endif()
    flynn_describe_plugin(${name} cpu ${arg_CLASS} ${arg_SCORE}
        "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, ${flags_text}${levels}")
    if(levels)
        target_compile_definitions(plugin-${name} PRIVATE ${choice})
    endif()
endfunction()
