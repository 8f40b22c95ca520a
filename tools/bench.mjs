import { prepare } from './prepare.mjs'

await prepare({ dev: true })
await import('../bench/dist/main.js')
