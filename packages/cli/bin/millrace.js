#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/main.js', import.meta.url)
if (existsSync(program)) {
  const { main } = await import(program.href)
  // Nothing is left to do then; a timer of some library must not keep the process.
  process.exit(await main(process.argv.slice(2)))
} else {
  console.error('Millrace is not built yet: run npm start, or npm run build, in its checkout.')
  process.exitCode = 1
}
