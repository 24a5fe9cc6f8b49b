#compdef flynn
# SPDX-License-Identifier: MIT
# Completion of `flynn` in zsh. The words come from the command's own tables: `flynn help --words`.

local flynn=$words[1] option of
local -a found
if (( CURRENT > 2 )) && [[ $words[CURRENT-1] == -[a-z] && $PREFIX != -* ]]; then
    option=$words[CURRENT-1]= # -b serial
elif [[ $PREFIX == --*=* ]]; then
    option=${PREFIX%%=*}=
fi
if (( CURRENT == 2 )); then
    found=(${(f)"$($flynn help --words 2>/dev/null | sed 's/\t/:/')"})
    _describe -t commands 'command' found
elif [[ -n $option ]]; then
    of=$words[2]
    [[ $of == (compare|sweep|laws|taxonomy) ]] && of=$words[3]
    if [[ $option == --variant= ]]; then
        found=(${(f)"$($flynn help --variants $of 2>/dev/null)"})
    else
        found=(${(f)"$($flynn help --words $words[2] 2>/dev/null | cut -f1 | sed -n "s/^$option\(.\)/\1/p")"})
    fi
    [[ $PREFIX == -* ]] && compset -P '*='
    if (( $#found )); then
        compset -P '*,'
        compadd -- $found
    else
        _files
    fi
elif [[ $PREFIX == -* ]]; then
    found=(${(f)"$($flynn help --words $words[2] 2>/dev/null | cut -f1 | grep -v '=.')"})
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
else
    case $words[2] in
        compare | sweep | laws | taxonomy) compadd -- ${(f)"$($flynn --exercises 2>/dev/null)"} ;;
        help)
            compadd -- ${(f)"$($flynn help --words 2>/dev/null | cut -f1)"}
            compadd -- ${(f)"$($flynn help --glossary 2>/dev/null | cut -f1 | tr ' ' -)"} ;;
    esac
    _files
fi
