#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { currentBundle } from './bundle.js'
import { keepCode, load } from './compiled-code.js'

const bundle = currentBundle()
const bundled = bundle && new URL('main.cjs', bundle)
const compiled = new URL('../dist/main.js', import.meta.url)
const program = [bundled, compiled].find((url) => url !== null && existsSync(url))
if (program !== undefined) {
  const { main } = program === bundled ? load(fileURLToPath(bundled)) : await import(program.href)
  const status = await main(process.argv.slice(2))
  keepCode()
  // Nothing is left to do then; a timer of some library must not keep the process.
  process.exit(status)
} else {
  console.error('Millrace is not built yet: run npm start, or npm run build, in its checkout.')
  process.exitCode = 1
}
