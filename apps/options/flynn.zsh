#compdef flynn
# SPDX-License-Identifier: MIT
# Completion of `flynn` in zsh. The words come from the command's own tables: `flynn help --words`.

local flynn=$words[1]
local -a found
if (( CURRENT == 2 )); then
    found=(${(f)"$($flynn help --words 2>/dev/null | sed 's/\t/:/')"})
    _describe -t commands 'command' found
elif [[ $PREFIX == -*=* ]]; then
    found=(${(f)"$($flynn help --words $words[2] 2>/dev/null | cut -f1 | grep -F -e "${PREFIX%%=*}=" | grep '=.')"})
    if (( $#found )); then
        compadd -- $found
    else
        compset -P '*='
        _files
    fi
elif [[ $PREFIX == -* ]]; then
    found=(${(f)"$($flynn help --words $words[2] 2>/dev/null | cut -f1 | grep -v '=.')"})
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
else
    case $words[2] in
        compare | sweep | laws | taxonomy) compadd -- ${(f)"$($flynn --exercises 2>/dev/null)"} ;;
        help) compadd -- ${(f)"$($flynn help --words 2>/dev/null | cut -f1)"} ;;
    esac
    _files
fi
