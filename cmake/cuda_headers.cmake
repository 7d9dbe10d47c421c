# The headers of CUDA, CUPTI and NVML, which are all that is needed of them: the libraries are opened at run time. The
# wheels of PyPI that scripts/setup installs come first, because they are of one version and hold nvml.h, which a toolkit
# usually lacks. Gives the target fullbore_cuda_headers, a system include: its warnings are not ours.
if(Python_EXECUTABLE)
  set(asked ${Python_EXECUTABLE})
else()
  find_program(FULLBORE_ANY_PYTHON NAMES python3)
  set(asked ${FULLBORE_ANY_PYTHON})
endif()
# Asked of the interpreter, because an isolated build of a wheel has its packages on PYTHONPATH alone.
execute_process(
  COMMAND ${asked} -c
          "import importlib.util as u; print(';'.join(p + '/cu13/include' for p in u.find_spec('nvidia').submodule_search_locations))"
  OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(GLOB venv_wheels ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/include)
file(GLOB toolkits /usr/local/cuda/include /usr/local/cuda-*/include)
# No default paths: /usr/include/linux has a cuda.h of another kind.
foreach(header cuda.h cupti.h nvml.h)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_path(FULLBORE_${name}_FOLDER ${header}
            HINTS ${CUDAToolkit_ROOT}/include $ENV{CUDAToolkit_ROOT}/include $ENV{CUDA_HOME}/include $ENV{CMAKE_INCLUDE_PATH}
            PATHS ${wheels} ${venv_wheels} ${toolkits} NO_DEFAULT_PATH)
  if(NOT FULLBORE_${name}_FOLDER)
    message(FATAL_ERROR "FULLBORE_GPU=cuda needs the header ${header} and found none; run scripts/setup, or pip install "
                        "'cuda-toolkit[cudart,crt,cupti,nvml]==13.0.2', or set CUDA_HOME, or build with -DFULLBORE_GPU=none")
  endif()
  list(APPEND FULLBORE_CUDA_INCLUDE ${FULLBORE_${name}_FOLDER})
endforeach()
list(REMOVE_DUPLICATES FULLBORE_CUDA_INCLUDE)
add_library(fullbore_cuda_headers INTERFACE)
target_include_directories(fullbore_cuda_headers SYSTEM INTERFACE ${FULLBORE_CUDA_INCLUDE})
