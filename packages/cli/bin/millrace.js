#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { currentBundle } from './bundle.js'
import { nameSources } from './stack-traces.js'

const bundle = currentBundle()
const bundled = bundle && new URL('main.js', bundle)
const compiled = new URL('../dist/main.js', import.meta.url)
const program = [bundled, compiled].find((url) => url !== null && existsSync(url))
if (program !== undefined) {
  if (program === bundled) nameSources(bundle.href)
  const { main } = await import(program.href)
  // Nothing is left to do then; a timer of some library must not keep the process.
  process.exit(await main(process.argv.slice(2)))
} else {
  console.error('Millrace is not built yet: run npm start, or npm run build, in its checkout.')
  process.exitCode = 1
}
