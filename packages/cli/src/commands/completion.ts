import { Argument, type Command } from 'commander'
import { command, HELP_GROUPS, type Output } from '../command.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

export const completion = (): Command =>
  command(
    'completion',
    'Print a script that completes commands, options, pipelines and logins in a shell.',
    'completion bash > ~/.local/share/bash-completion/completions/millrace',
  )
    .helpGroup(HELP_GROUPS.here)
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(async (shell: Shell, options: Output, self: Command) => {
      const { completionScript } = await import('../client/completion/scripts.ts')
      const script = completionScript(shell, self.parent ?? self)
      process.stdout.write(options.json ? `${JSON.stringify({ shell, script })}\n` : script)
    })

/** For the scripts above, at every press of the tab key; not in --help. */
export const completeValues = (): Command =>
  command('complete-values', 'Print the values of an option, one a line.', 'complete-values pipelines')
    .addArgument(new Argument('<kind>').choices(['pipelines', 'profiles']))
    .action(async (kind: 'pipelines' | 'profiles') => {
      const { printValues } = await import('../client/completion/values.ts')
      await printValues(kind)
    })
