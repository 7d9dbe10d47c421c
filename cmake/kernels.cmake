# Kernels as PTX: text of an old version (6.3: drivers since CUDA 10, GPUs since Volta) that the driver compiles for the GPU
# it finds. clang alone makes it, without a toolkit. Where there is none the build goes on without, and says so here and
# at run time; -DFULLBORE_CLANG=OFF asks for that.
#
# fullbore_ptx_source(VARIABLE NAME): the source file that defines the PTX of kernels/NAME.c.
find_program(FULLBORE_CLANG NAMES clang-19 clang-20 clang-21 DOC "a clang from 19 on, for the kernels")

function(fullbore_ptx_source variable name)
  if(NOT FULLBORE_CLANG)
    message(STATUS "no clang: the kernel ${name} is left out; apt-get install clang-19")
    set(${variable} kernels/${name}_ptx_none.cc PARENT_SCOPE)
    return()
  endif()
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${name}.c)
  add_custom_command(
    OUTPUT ${ptx}
    COMMAND ${FULLBORE_CLANG} -x c -std=c17 -target nvptx64-nvidia-cuda -march=sm_70 --cuda-feature=+ptx63
            -O3 -nostdinc -S -MD -MF ${ptx}.d -MT ${ptx} -o ${ptx} ${source}
    DEPENDS ${source}
    DEPFILE ${ptx}.d
    COMMENT "${name}.c to PTX")
  add_custom_command(
    OUTPUT ${ptx}.cc
    COMMAND ${CMAKE_COMMAND} -DPTX=${ptx} -DOUT=${ptx}.cc -DNAME=${name} -P ${CMAKE_SOURCE_DIR}/cmake/embed_ptx.cmake
    DEPENDS ${ptx} ${CMAKE_SOURCE_DIR}/cmake/embed_ptx.cmake)
  set(${variable} ${ptx}.cc PARENT_SCOPE)
endfunction()
