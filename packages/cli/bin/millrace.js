#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { currentBundle } from './bundle.js'
import { stopWithParent } from './stop-with-parent.js'

// `npm exec` and `npx` set this.
if (process.env.npm_lifecycle_event === 'npx') stopWithParent(process.ppid)

const bundle = currentBundle()
const bundled = bundle && new URL('main.js', bundle)
const compiled = new URL('../dist/main.js', import.meta.url)
const program = [bundled, compiled].find((url) => url !== null && existsSync(url))
if (program !== undefined) {
  // Node has this from 22.1 on. Its default is a directory for temporary files, where another user could put code.
  module.enableCompileCache?.(fileURLToPath(new URL('compile-cache/', program)))
  const { main } = await import(program.href)
  // A timer of some library must not keep the process.
  process.exit(await main(process.argv.slice(2)))
} else {
  console.error('Millrace is not built yet: run npm start, or npm run build, in its checkout.')
  process.exitCode = 1
}
