// Completion scripts. Everything but pipelines and logins is written into the script, so that most presses of the tab key
// start no process.
import type { Command } from 'commander'
import { listNodes, VALUES, type Node, type OptionWord } from './tree.ts'

export function completionScript(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  const nodes = listNodes(program)
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](nodes)
}

const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
const spellings = ({ short, name }: OptionWord) => (short === null ? [name] : [short, name])

/** The part that finds the command among the words before the cursor; the same in bash and zsh. */
function pathCases(nodes: readonly Node[]): string {
  const paths = nodes.slice(1).map(({ path }) => quote(path))
  return `      ${paths.join('|')}) command="$command $word" ;;`
}

/** Options whose values are known, as `case` patterns of command and option. */
function choiceCases(nodes: readonly Node[], reply: (words: readonly string[]) => string): string[] {
  return nodes.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.choices.length === 0
        ? []
        : [
            `    ${spellings(option)
              .map((word) => quote(`${path} ${word}`))
              .join('|')}) ${reply(option.choices)} ;;`,
          ],
    ),
  )
}

/** Options that take a value that nothing is known about: files are completed. */
function valueOptions(nodes: readonly Node[]): string {
  const words = nodes.flatMap(({ options }) =>
    options.filter(({ takesValue }) => takesValue).flatMap(spellings),
  )
  return [...new Set(words)].filter((word) => VALUES[word] === undefined && word !== '-p').join('|')
}

function bashScript(nodes: readonly Node[]): string {
  const words = nodes.map(({ path, commands, options, choices, takesPipeline }) => {
    const flags = options.flatMap(spellings).join(' ')
    const names = [...commands.map(({ name }) => name), ...choices].join(' ')
    return `    ${quote(path)}) flags=${quote(flags)} names=${quote(names)} values=${takesPipeline ? 'pipelines' : ''} ;;`
  })
  return `# Completion of millrace for bash. Made by: millrace completion bash
_millrace_values() {
  local value
  while IFS= read -r value; do
    [[ $value == "$current"* ]] && COMPREPLY+=("$value")
  done < <(millrace complete-values "$1" 2>/dev/null)
}

_millrace() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local command=millrace word index flags= names= values=
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$command $word" in
${pathCases(nodes)}
    esac
  done
  case $previous in
    --pipeline|-p) _millrace_values pipelines; return ;;
    --profile) _millrace_values profiles; return ;;
  esac
  case "$command $previous" in
${choiceCases(nodes, (choices) => `COMPREPLY=($(compgen -W ${quote(choices.join(' '))} -- "$current")); return`).join('\n')}
  esac
  case $previous in
    ${valueOptions(nodes)}) return ;;
  esac
  case $command in
${words.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$names" -- "$current"))
    [[ -n $values ]] && _millrace_values "$values"
  fi
}

complete -o default -F _millrace millrace
`
}

function zshScript(nodes: readonly Node[]): string {
  const describe = (name: string, description: string) =>
    quote(`${name.replaceAll(':', String.raw`\:`)}:${description}`)
  const words = nodes.map(({ path, commands, options, choices, takesPipeline }) => {
    const flags = options.flatMap((option) =>
      spellings(option).map((word) => describe(word, option.description)),
    )
    const names = [
      ...commands.map(({ name, description }) => describe(name, description)),
      ...choices.map((choice) => describe(choice, '')),
    ]
    return `    ${quote(path)}) flags=(${flags.join(' ')}) names=(${names.join(' ')}) values=${takesPipeline ? 'pipelines' : ''} ;;`
  })
  return `#compdef millrace
# Completion of millrace for zsh. Made by: millrace completion zsh
_millrace_values() {
  local -a found
  found=("\${(@f)$(millrace complete-values "$1" 2>/dev/null)}")
  compadd -a found
}

_millrace() {
  local current=\${words[CURRENT]} previous=\${words[CURRENT - 1]}
  local command=millrace word values=
  local -a flags names
  for word in "\${(@)words[2,CURRENT - 1]}"; do
    case "$command $word" in
${pathCases(nodes)}
    esac
  done
  case $previous in
    --pipeline|-p) _millrace_values pipelines; return ;;
    --profile) _millrace_values profiles; return ;;
  esac
  case "$command $previous" in
${choiceCases(nodes, (choices) => `compadd -- ${choices.map(quote).join(' ')}; return`).join('\n')}
  esac
  case $previous in
    ${valueOptions(nodes)}) _files; return ;;
  esac
  case $command in
${words.join('\n')}
  esac
  if [[ $current == -* ]]; then
    _describe option flags
  elif (( $#names )); then
    _describe command names
  elif [[ -n $values ]]; then
    _millrace_values "$values"
  else
    _files
  fi
}

if [[ \${funcstack[1]} == _millrace ]]; then
  _millrace "$@"
else
  compdef _millrace millrace
fi
`
}

function fishScript(nodes: readonly Node[]): string {
  const cases = nodes.slice(1).map(({ path }) => quote(path))
  const lines = nodes.flatMap((node) => {
    const here = `complete -c millrace -n ${quote(`__millrace_is ${quote(node.path)}`)}`
    const values = (kind: string) => quote(`(millrace complete-values ${kind} 2>/dev/null)`)
    const options = node.options.map((option) => {
      const kind = VALUES[option.name]
      const given = option.choices.length > 0 ? quote(option.choices.join(' ')) : null
      const words = kind === undefined ? given : values(kind)
      const short = option.short === null ? '' : ` -s ${option.short.slice(1)}`
      const value = option.takesValue ? (words === null ? ' -r -F' : ` -x -a ${words}`) : ''
      return `${here}${short} -l ${option.name.slice(2)}${value} -d ${quote(option.description)}`
    })
    return [
      ...node.commands.map(({ name, description }) => `${here} -f -a ${name} -d ${quote(description)}`),
      ...(node.choices.length > 0 ? [`${here} -f -a ${quote(node.choices.join(' '))}`] : []),
      ...(node.takesPipeline ? [`${here} -f -a ${values('pipelines')}`] : []),
      ...options,
    ]
  })
  return `# Completion of millrace for fish. Made by: millrace completion fish
function __millrace_is
    set -l command millrace
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case ${cases.join(' ')}
                set command "$command $word"
        end
    end
    test "$command" = "$argv[1]"
end

${lines.join('\n')}
`
}
