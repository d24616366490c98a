# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Bash completion of the command fors(1).

_fors_options() {
	case "$1" in
	plan) echo --fabric --synthetic --down --participants --lmc --method --ilp-seconds --output --json --help ;;
	schedule) echo --format --server --help ;;
	verify) echo --fabric --synthetic --down --lfts --schedule --help ;;
	status) echo --json --help ;;
	forget) echo --dry-run --help ;;
	fabric) echo --fabric --synthetic --down --lmc --format --help ;;
	esac
}

_fors_values() { # command, option
	case "$1 $2" in
	"plan --method") echo auto closed-form rounds exact ilp ;;
	"schedule --format") echo text csv json ;;
	"fabric --format") echo net spec json lfts ;;
	*" --lmc") echo 0 1 2 3 4 5 6 7 ;;
	esac
}

_fors() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local commands="plan schedule verify status forget fabric help"

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$current"))
		return
	fi
	case "$previous" in
	help) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
	--fabric | --participants | --output | --lfts | --schedule) COMPREPLY=($(compgen -f -- "$current")) ;;
	--method | --format | --lmc) COMPREPLY=($(compgen -W "$(_fors_values "$command" "$previous")" -- "$current")) ;;
	--synthetic | --down | --server | --ilp-seconds) ;;
	*)
		if [[ $current == -* ]]; then
			COMPREPLY=($(compgen -W "$(_fors_options "$command")" -- "$current"))
		else
			COMPREPLY=($(compgen -f -- "$current"))
		fi
		;;
	esac
}

complete -o filenames -F _fors fors
