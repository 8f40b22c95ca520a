#!/usr/bin/env node
import { main } from '../dist/agent-main.js'
import { stopWithParent } from './stop-with-parent.js'

// `npm exec` and `npx` set this.
if (process.env.npm_lifecycle_event === 'npx') stopWithParent(process.ppid)

// A timer of some library must not keep the process.
process.exit(await main(process.argv.slice(2)))
