// Questions to a person. They go to stderr, because stdout has the result. Node's readline shows what is typed, and libraries of
// prompts load many modules, so a hidden line is read here.
import { createInterface } from 'node:readline/promises'
import { Refused } from '../refused.ts'

/** Somebody can answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const stopped = new AbortController()
  lines.once('SIGINT', () => stopped.abort())
  lines.once('close', () => stopped.abort())
  try {
    return (await lines.question(question, { signal: stopped.signal })).trim()
  } catch {
    process.stderr.write('\n')
    throw new Refused('Canceled.')
  } finally {
    lines.close()
  }
}

/** Does not show what is typed or pasted. The signal takes the question back. */
export function askHidden(question: string, signal?: AbortSignal): Promise<string> {
  const { stdin, stderr } = process
  let line = ''
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      signal?.removeEventListener('abort', onEnd)
      stdin.off('data', onKeys)
      stdin.off('end', onEnd)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
    }
    const onKeys = (keys: Buffer): void => {
      const end = readKeys(keys.toString('utf8'), (change) => (line = change(line)))
      if (end === 'more') return
      stop()
      if (end === 'entered') resolve(line.trim())
      else reject(new Refused('Canceled.'))
    }
    const onEnd = (): void => {
      stop()
      reject(new Refused('Canceled.'))
    }
    stdin.setRawMode(true)
    stdin.on('data', onKeys)
    stdin.on('end', onEnd)
    signal?.addEventListener('abort', onEnd)
    stderr.write(question)
  })
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const CTRL_U = '\u0015'
const DELETE = '\u007f'

function readKeys(
  keys: string,
  edit: (change: (line: string) => string) => void,
): 'canceled' | 'entered' | 'more' {
  for (const key of keys) {
    if (key === '\r' || key === '\n') return 'entered'
    if (key === CTRL_C || key === CTRL_D) return 'canceled'
    if (key === CTRL_U) edit(() => '')
    else if (key === DELETE || key === '\b') edit((line) => Array.from(line).slice(0, -1).join(''))
    else if (key >= ' ') edit((line) => line + key)
  }
  return 'more'
}

/** All of standard input, for values that scripts pipe in. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer))
  return Buffer.concat(chunks).toString('utf8')
}
