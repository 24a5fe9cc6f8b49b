# SPDX-License-Identifier: MIT
# Completion of `flynn` in bash. The words come from the command's own tables: `flynn help --words`.

# What follows an option: __flynn_values COMMAND OPTION= VALUE, of which the part after the last comma is completed.
__flynn_values() {
    local before=${3%"${3##*,}"} words of=$1
    case $2 in
        --variant=)
            [[ $of != @(compare|sweep|laws|taxonomy) ]] || of=${known[2]}
            words=$("$flynn" help --variants "$of" 2>/dev/null) ;;
        *) words=$("$flynn" help --words "$1" 2>/dev/null | cut -f1 | grep -F -e "$2" | sed -n "s/^$2\(.\)/\1/p") ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${3##*,}")
    COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

_flynn() {
    local flynn=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} word known before
    local IFS=$' \t\n'
    read -ra known <<<"$line"
    word=${line##*[[:space:]]} # bash splits at '=', too
    COMPREPLY=()
    if [ "${#known[@]}" -eq 1 ] || { [ "${#known[@]}" -eq 2 ] && [ -n "$word" ]; }; then
        mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words 2>/dev/null | cut -f1)" -- "$word")
        return
    fi
    before=${known[${#known[@]} - 1]}
    [ -z "$word" ] || before=${known[${#known[@]} - 2]}
    if [[ $before == -[a-z] && $word != -* ]]; then # -b serial
        __flynn_values "${known[1]}" "$before=" "$word"
        return
    fi
    case ${known[1]} in
        compare | sweep | laws | taxonomy) [ "${word#-}" = "$word" ] &&
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" --exercises 2>/dev/null)" -- "$word") ;;
        help) [ "${word#-}" = "$word" ] &&
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words 2>/dev/null | cut -f1)
                $("$flynn" help --glossary 2>/dev/null | cut -f1 | tr ' ' -)" -- "$word") ;;
    esac
    case $word in
        --*=*) # bash has the part after '=' only
            __flynn_values "${known[1]}" "${word%%=*}=" "${word#*=}"
            ;;
        -*)
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words "${known[1]}" 2>/dev/null | cut -f1 |
                grep -v '=.')" -- "$word")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
            ;;
    esac
}
complete -o default -F _flynn flynn
