// The input and output of this process.

import { fstatSync } from 'node:fs'
import { systemClock } from '../clock.ts'
import type { Io } from './verb.ts'

export const processIo = (): Io => ({
  env: process.env,
  cwd: process.cwd(),
  readInput,
  hasInput,
  print: (text) => void process.stdout.write(text),
  printError: (line) => void process.stderr.write(`${line}\n`),
  clock: systemClock,
})

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
