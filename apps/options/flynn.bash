# SPDX-License-Identifier: MIT
# Completion of `flynn` in bash. The words come from the command's own tables: `flynn help --words`.

_flynn() {
    local flynn=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} word known
    local IFS=$' \t\n'
    read -ra known <<<"$line"
    word=${line##*[[:space:]]} # bash splits at '=', too
    COMPREPLY=()
    if [ "${#known[@]}" -eq 1 ] || { [ "${#known[@]}" -eq 2 ] && [ -n "$word" ]; }; then
        mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words 2>/dev/null | cut -f1)" -- "$word")
        return
    fi
    case ${known[1]} in
        compare | sweep | laws | taxonomy) [ "${word#-}" = "$word" ] &&
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" --exercises 2>/dev/null)" -- "$word") ;;
        help) [ "${word#-}" = "$word" ] &&
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words 2>/dev/null | cut -f1)" -- "$word") ;;
    esac
    case $word in
        -*=*) # a value: bash has the part behind '=' only
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words "${known[1]}" 2>/dev/null | cut -f1)" -- "$word")
            COMPREPLY=("${COMPREPLY[@]#*=}")
            ;;
        -*)
            mapfile -t COMPREPLY < <(compgen -W "$("$flynn" help --words "${known[1]}" 2>/dev/null | cut -f1 |
                grep -v '=.')" -- "$word")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
            ;;
    esac
}
complete -o default -F _flynn flynn
