// Run by the script in a job's PATH.

import { fstatSync } from 'node:fs'
import { systemClock } from '../clock.ts'
import { main } from './main.ts'

async function readInput(): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of process.stdin as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString()
}

/** A terminal and /dev/null are character devices. */
function hasInput(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

const status = await main(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  readInput,
  hasInput,
  print: (text) => void process.stdout.write(text),
  printError: (line) => void process.stderr.write(`${line}\n`),
  clock: systemClock,
})
// Flush the output, then exit explicitly: kept-alive connections would keep the process running.
await new Promise<void>((resolve) => {
  process.stdout.write('', () => resolve())
})
process.exit(status)
