// Shows long text in the pager of the user, as git does: MILLRACE_PAGER, PAGER, or less.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes to stdout. Text that does not fit the terminal is shown in the pager. */
export async function showText(text: string): Promise<void> {
  await showLines(text.split('\n'))
}

/** Like showText, for lines that are still arriving. The pager shows the first ones at once. */
export async function showLines(lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const { stdout, stdin } = process
  const command = stdout.isTTY && stdin.isTTY ? findPager(process.env) : null
  const first: string[] = []
  let pager: Pager | null = null
  for await (const line of lines) {
    if (command === null) await write(stdout, [line])
    else if (pager !== null) {
      if (pager.isOver()) break
      await write(pager.input, [line])
    } else if (first.push(line) >= stdout.rows) {
      pager = openPager(command)
      await write(pager.input, first)
    }
  }
  if (pager === null) await write(stdout, first)
  else await pager.end()
}

/** null: the user wants none, or there is none. */
function findPager(env: NodeJS.ProcessEnv): string | null {
  const command = env['MILLRACE_PAGER'] ?? env['PAGER'] ?? 'less'
  if (command === '' || command === 'cat') return null
  // The setting is a shell command, such as `less -S`.
  const [program = ''] = command.trim().split(/\s+/)
  const { status } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' })
  return status === 0 ? command : null
}

interface Pager {
  input: Writable
  isOver(): boolean
  /** Resolves when the user leaves it. */
  end(): Promise<void>
}

function openPager(command: string): Pager {
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    // End if one screen is enough, show colors, keep the screen.
    env: { LESS: 'FRX', ...process.env },
  })
  // A pager that ends before it has read everything closes the pipe.
  child.stdin.on('error', () => {})
  // Ctrl-C belongs to the pager.
  const ignore = (): void => {}
  process.on('SIGINT', ignore)
  const closed = once(child, 'close').finally(() => process.off('SIGINT', ignore))
  return {
    input: child.stdin,
    isOver: () => child.exitCode !== null || child.stdin.destroyed,
    async end() {
      child.stdin.end()
      await closed
    },
  }
}

/** Waits while the reader is slower. */
async function write(output: Writable, lines: readonly string[]): Promise<void> {
  if (lines.length === 0 || output.destroyed) return
  if (output.write(lines.map((line) => `${line}\n`).join('')) || output.destroyed) return
  await Promise.race([once(output, 'drain'), once(output, 'close')])
}
