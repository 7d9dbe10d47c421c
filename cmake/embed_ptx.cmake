# cmake -DPTX=FILE -DOUT=FILE -DNAME=finish -P embed_ptx.cmake: writes a source file that defines kFinishPtx.
file(READ ${PTX} text)
string(SUBSTRING ${NAME} 0 1 first)
string(TOUPPER ${first} first)
string(SUBSTRING ${NAME} 1 -1 rest)
file(WRITE ${OUT} "#include \"gpu/kernels/${NAME}_ptx.h\"\n\nnamespace fullbore::gpu {\n\nconst char* const k${first}${rest}Ptx = R\"ptx(${text})ptx\";\n\n}  // namespace fullbore::gpu\n")
