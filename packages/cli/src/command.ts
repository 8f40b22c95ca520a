// Shared by all commands: --help with an example, --json, and exit codes for errors.
// Commands import the server on demand, so that help and usage errors are fast.
import { Command, InvalidArgumentError } from 'commander'

export interface Output {
  json?: true
}

/** The headings of --help: what a command works with. */
export const HELP_GROUPS = {
  server: 'With a server, as a user (log in first: millrace login):',
  operator: "On a server's machine, with its database:",
  here: 'On this machine:',
}

export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .helpGroup(HELP_GROUPS.operator)
    .option('--json', 'print one JSON value')
    .addHelpText('after', `\nExample:\n  $ millrace ${example}`)
    .exitOverride()
}

export function group(
  name: string,
  description: string,
  example: string,
  commands: readonly Command[],
  helpGroup = HELP_GROUPS.operator,
): Command {
  const parent = new Command(name)
    .description(description)
    .helpGroup(helpGroup)
    .addHelpText('after', `\nExample:\n  $ millrace ${example}`)
    .exitOverride()
  for (const child of commands) parent.addCommand(child)
  return parent
}

/** For a repeatable option. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value]
}

export function notBlank(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be blank.')
  return value
}

export function print(output: Output, value: object, text: string): void {
  console.log(output.json ? JSON.stringify(value) : text)
}
