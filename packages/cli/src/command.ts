// Shared by all commands: --help with an example, --json, and exit codes for errors.
import { Command, InvalidArgumentError } from 'commander'

export interface Output {
  json?: true
}

export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print one JSON value')
    .addHelpText('after', `\nExample:\n  $ millrace ${example}`)
    .exitOverride()
}

export function group(
  name: string,
  description: string,
  example: string,
  commands: readonly Command[],
): Command {
  const parent = new Command(name)
    .description(description)
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
