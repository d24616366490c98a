# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Bash completion of the command fors(1).

_fors_options() {
	case "$1" in
	plan) echo --fabric --synthetic --down --participants --lmc --method --ilp-seconds --output --json --help ;;
	schedule) echo --format --server --help ;;
	verify) echo --fabric --synthetic --down --lfts --schedule --help ;;
	status) echo --json --help ;;
	forget) echo --dry-run --help ;;
	analyze) echo --fabric --synthetic --down --participants --lfts --routing --lmc --pattern --pattern-file --schedule --map \
		--seed --jobs --optimum --json --html --help ;;
	indices) echo --fabric --synthetic --down --participants --lfts --routing --lmc --samples --seed --threads --json --help ;;
	whatif) echo --fabric --synthetic --down --participants --lmc --engines --random --count --seed --resume --threads --json \
		--html --help ;;
	fabric) echo --fabric --synthetic --down --lmc --format --help ;;
	esac
}

_fors_values() { # command, option
	case "$1 $2" in
	"plan --method") echo auto closed-form rounds exact ilp ;;
	"schedule --format") echo text csv json ;;
	"fabric --format") echo net spec json lfts ;;
	"analyze --pattern") echo linear-shift all-to-all plan shift permutation bisect 2DNN 2DNNDIAG 3DNN 3DNNDIAG ;;
	"analyze --routing" | "indices --routing") echo fors d-mod-k s-mod-k random hash ;;
	"analyze --map") echo direct random ;;
	"whatif --engines") echo minhop updn dnup ftree lash dor dfsssp sssp torus-2QoS nue ;;
	*" --lmc") echo 0 1 2 3 4 5 6 7 ;;
	esac
}

_fors() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local commands="plan schedule verify analyze indices whatif status forget fabric help"

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$current"))
		return
	fi
	case "$previous" in
	help) COMPREPLY=($(compgen -W "$commands" -- "$current")) ;;
	--fabric | --participants | --output | --lfts | --schedule | --pattern-file | --jobs | --html | --resume) COMPREPLY=($(compgen -f -- "$current")) ;;
	--method | --format | --lmc | --pattern | --routing | --map | --engines) COMPREPLY=($(compgen -W "$(_fors_values "$command" "$previous")" -- "$current")) ;;
	--synthetic | --down | --server | --ilp-seconds | --samples | --seed | --random | --count | --threads) ;;
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
