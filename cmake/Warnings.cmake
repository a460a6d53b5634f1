# amp_warnings(target): the house warning set; AMP_WERROR makes them errors,
# AMP_SANITIZE adds ASan and UBSan.
function(amp_warnings target)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wconversion
            -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef>
        $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${AMP_WERROR}>>:-Werror>)
    if(AMP_SANITIZE)
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:C>:-fsanitize=address,undefined
                -fno-omit-frame-pointer -fno-sanitize-recover=undefined>)
        target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    endif()
endfunction()
