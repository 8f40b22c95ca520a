// The commands of the program as completion needs them, read from commander.
import type { Command } from 'commander'

export interface Node {
  /** Such as `millrace pipeline list`. */
  path: string
  commands: Word[]
  options: OptionWord[]
  /** Arguments with fixed values, such as the shell of `completion`. */
  choices: string[]
  takesPipeline: boolean
}

interface Word {
  name: string
  description: string
}

export interface OptionWord extends Word {
  /** Such as -f; null: none. */
  short: string | null
  takesValue: boolean
  choices: readonly string[]
}

export function listNodes(command: Command, parents: readonly string[] = []): Node[] {
  const names = [...parents, command.name()]
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter(({ parent }) => parent === command)
  const args = command.registeredArguments
  const node: Node = {
    path: names.join(' '),
    commands: children.map((child) => ({
      name: child.name(),
      description: firstSentence(child.description()),
    })),
    options: help.visibleOptions(command).flatMap((option) => {
      if (!option.long) return []
      const { short, long: name, description, required, optional, argChoices } = option
      return [
        {
          name,
          short: short ?? null,
          description: firstSentence(description),
          takesValue: required || optional,
          choices: argChoices ?? [],
        },
      ]
    }),
    choices: args.flatMap(({ argChoices }) => argChoices ?? []),
    takesPipeline: args[0]?.name() === 'pipeline',
  }
  return [node, ...children.flatMap((child) => listNodes(child, names))]
}

/** The values of these options are completed by `millrace complete-values`. */
export const VALUES: Readonly<Record<string, string>> = { '--pipeline': 'pipelines', '--profile': 'profiles' }

const firstSentence = (text: string) => text.replace(/[.:;(].*$/s, '').trim()
